"""Requests that a crawler signs: Web Bot Auth, with a key for tests."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver, algorithms

from koster.logs._signatures import keys_of

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def directory() -> dict[str, Any]:
    raw = KEY.public_key().public_bytes_raw()
    return {"keys": [{"kty": "OKP", "crv": "Ed25519",
                      "x": base64.urlsafe_b64encode(raw).decode().rstrip("=")}]}  # fmt: skip


class Private(HTTPSignatureKeyResolver):  # type: ignore[misc]
    def resolve_private_key(self, key_id: str) -> Any:
        return KEY


class Request:
    def __init__(self, url: str) -> None:
        self.method = "GET"
        self.url = url
        self.headers: dict[str, str] = {"Signature-Agent": '"https://bot.example"'}


def sign(url: str, created: datetime, **options: Any) -> dict[str, str]:
    request = Request(url)
    signer = HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=Private())
    settings = {
        "tag": "web-bot-auth", "covered_component_ids": ("@authority", "signature-agent"),
        "expires": created + timedelta(minutes=5),
    } | options  # fmt: skip
    (key_id, *_) = keys_of(directory())
    signer.sign(request, key_id=key_id, created=created, **settings)
    return request.headers
