"""POST /v1/files: many files in one request."""

from __future__ import annotations

import gzip
from base64 import b64encode
from typing import Any

import httpx2
import pytest

import koster
from koster._worker.files import NamedFile
from koster.service._work import _Job
from tests.helpers.api import post, problem


def base64(body: bytes) -> str:
    return b64encode(body).decode()


def test_each_file_has_its_answer_in_order(api: httpx2.Client) -> None:
    texts = {
        "closed": "User-agent: *\nDisallow: /\n",
        "named": "User-agent: GPTBot\nDisallow: /a\n",
        "open": "",
    }
    files = [{"id": name, "robots": text} for name, text in texts.items()]
    request_body = {"files": files, "agents": ["GPTBot", "*"], "urls": ["/a", "/b"]}
    answer = post(api, "files", request_body)
    assert answer["dialect"] == "RFC9309"
    assert [each["id"] for each in answer["files"]] == list(texts)
    extents = [[agent["effective"] for agent in each["agents"]] for each in answer["files"]]
    assert extents == [["all", "all"], ["some", "none"], ["none", "none"]]
    (named, _) = answer["files"][1]["agents"]
    assert named == {"agent": "GPTBot", "written": True, "effective": "some", "line": 2}
    for each, text in zip(answer["files"], texts.values(), strict=True):
        robots = koster.parse(text)
        assert [(one["agent"], one["url"], one["allowed"]) for one in each["decisions"]] == [
            (agent, url, robots.allowed(url, agent))
            for agent in ("GPTBot", "*")
            for url in ("/a", "/b")
        ]
        assert (each["html"], each["problem"]) == (False, None)


@pytest.mark.parametrize("dialect", ["rfc9309", "Google", "MK1994"])
def test_a_file_has_the_answers_of_decide(api: httpx2.Client, dialect: str) -> None:
    robots = "User-agent: Googlebot\nDisallow: /*x$\n\nUser-agent: *\nDisallow: /caf\u00e9\n"
    asked = {"agents": ["Googlebot-Image", "*"], "urls": ["/yx", "/caf\u00e9"], "dialect": dialect}
    expected = post(api, "decide", {"robots": robots, **asked})
    files = [{"robots": robots}, {"body_base64": base64(robots.encode())}]
    answer = post(api, "files", {"files": files, **asked})
    assert answer["dialect"] == expected["dialect"]
    for each in answer["files"]:
        assert (each["id"], each["decisions"]) == (None, expected["decisions"])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("zz", "not-base64"),
        ("VXNl cg==", "not-base64"),
        ("\u00e9\u00e9\u00e9\u00e9", "not-base64"),
        (base64(gzip.compress(b"User-agent: *\nDisallow: /", mtime=0)), "compressed"),
        (base64(gzip.compress(b"User-agent: *\nDisallow: /", mtime=0)[:-9]), "compressed"),
    ],
)
def test_a_file_that_cannot_be_read_allows_nothing(
    api: httpx2.Client, text: str, code: str
) -> None:
    files = [{"robots": ""}, {"id": "x", "body_base64": text}, {"robots": ""}]
    answer = post(api, "files", {"files": files, "urls": ["/"]})
    first, unread, last = answer["files"]
    assert unread.pop("problem")["code"] == code
    assert unread == {"id": "x", "html": None, "agents": None, "decisions": None}
    assert first["decisions"][0]["allowed"] == last["decisions"][0]["allowed"] is True


def test_a_page_and_other_charsets(api: httpx2.Client) -> None:
    bodies = [b"<!doctype html><html>", "User-agent: *\nDisallow: /".encode("utf-16")]
    files = [{"body_base64": base64(body)} for body in bodies]
    page, utf_16 = post(api, "files", {"files": files})["files"]
    assert (page["html"], page["agents"][0]["effective"], page["decisions"]) == (True, "none", [])
    assert (utf_16["html"], utf_16["agents"][0]["effective"]) == (False, "all")


@pytest.mark.parametrize(
    ("request_body", "pointer"),
    [
        ({"files": []}, "/files"),
        ({"files": [{"robots": ""}, {"id": "x"}]}, "/files/1"),
        ({"files": [{"robots": "", "body_base64": ""}]}, "/files/0"),
        ({"files": [{"robots": "", "site": "a.example"}]}, "/files/0/site"),
        ({"files": [{"robots": "", "id": 1}]}, "/files/0/id"),
        ({"files": [{"robots": "", "id": "x" * 2_049}]}, "/files/0/id"),
        ({"files": [{"robots": ""}], "agents": []}, "/agents"),
        ({"files": [{"robots": ""}], "dialect": "nope"}, "/dialect"),
        ({}, "/files"),
    ],
)
def test_invalid_batches(api: httpx2.Client, request_body: Any, pointer: str) -> None:
    details = problem(api.post("/v1/files", json=request_body), 422, "invalid")
    assert pointer in [each["pointer"] for each in details["errors"]]


def test_limits_count_all_files(api: httpx2.Client) -> None:
    files = [{"robots": ""}] * 2
    for asked in (
        {"files": files * 501},
        {"files": files, "agents": ["x"] * 501},
        {"files": files, "urls": ["/"] * 501},
        {"files": files * 2_000, "agents": ["x"] * 1_000, "urls": ["/"] * 1_000},
    ):
        problem(api.post("/v1/files", json=asked), 422, "too-many-questions")
    long = {"files": files * 10, "urls": ["/" + "x" * 8_000] * 8}
    problem(api.post("/v1/files", json=long), 422, "answer-too-large")
    assert len(post(api, "files", {"files": files * 500})["files"]) == 1_000


def test_large_batches_do_not_hold_up_short_requests() -> None:
    """The lane for short ones is chosen by the sum of all files."""
    for size, is_short in ((30_000, True), (40_000, False)):
        files = [NamedFile(None, b"x" * size), NamedFile(None, "x" * size)]
        job = _Job("192.0.2.1", "files", (1 << 20, files, "RFC9309", ["*"], []))
        assert job.is_short is is_short
