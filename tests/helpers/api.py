"""Helpers for requests to the API."""

from __future__ import annotations

from typing import Any

import httpx2


def post(api: httpx2.Client, route: str, question: Any) -> Any:
    answer = api.post(f"/v1/{route}", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    details: dict[str, Any] = answer.json()
    assert (details["status"], details["code"], details["type"]) == (status, code, "about:blank")
    assert details["title"]
    assert details["detail"]
    return details


BROKEN = "User-agent: *\nDisallow: admin\nDisalow /foo\nDisallow: /a*\nAllow: /b\nDisallow: /b\n"
