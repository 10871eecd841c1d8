"""Web Bot Auth: requests that a crawler signs (draft-ietf-webbotauth-httpsig-protocol, RFC 9421).

The keys are those of operators' directories (JSON Web Key Sets), of which the key's ID is the
thumbprint (RFC 7638).
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..errors import missing

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from http_message_signatures import (
        HTTPMessageSignaturesException,
        HTTPMessageVerifier,
        HTTPSignatureKeyResolver,
        algorithms,
    )
except ImportError as error:
    raise missing("koster.logs", "logs") from error

from collections.abc import Mapping

#: The tag of such signatures.
_TAG = "web-bot-auth"

#: How far the clocks of a crawler and a server may differ.
_CLOCK_SKEW = timedelta(minutes=1)


def keys_of(data: Any) -> dict[str, bytes]:
    """Return the Ed25519 keys of a directory, by their ID."""
    found = {}
    for key in data.get("keys", ()):
        if isinstance(key, dict) and key.get("kty") == "OKP" and key.get("crv") == "Ed25519":
            encoded = str(key.get("x", ""))
            try:
                raw = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
            except ValueError:
                continue
            if len(raw) == 32:
                found[_thumbprint(encoded)] = raw
                if key.get("kid"):
                    found[str(key["kid"])] = raw
    return found


def _thumbprint(encoded: str) -> str:
    """Return the SHA-256 thumbprint of a key (RFC 7638 §3, RFC 8037 §2)."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": encoded}
    raw = json.dumps(members, separators=(",", ":"), sort_keys=True).encode()
    return base64.urlsafe_b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Signed:
    """A request as a log has it."""

    method: str
    url: str
    headers: Mapping[str, str]


class _Keys(HTTPSignatureKeyResolver):
    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._keys = keys

    def resolve_public_key(self, key_id: str) -> Any:
        raw = self._keys.get(key_id)
        return None if raw is None else Ed25519PublicKey.from_public_bytes(raw)


class _Verifier(HTTPMessageVerifier):
    """Compares the times of a signature with that of the request, not with the clock."""

    moment: datetime

    def validate_created_and_expires(self, sig_input: Any, max_age: Any = None) -> None:
        del max_age
        seconds = self.moment.timestamp()
        skew = _CLOCK_SKEW.total_seconds()
        created, expires = (sig_input.params.get(name) for name in ("created", "expires"))
        if created is None or created > seconds + skew:
            raise HTTPMessageSignaturesException("signed after the request")
        if expires is None or expires < seconds - skew:
            raise HTTPMessageSignaturesException("expired before the request")


def is_signed(request: Signed, keys: Mapping[str, bytes], moment: datetime) -> bool:
    """Return whether a request was signed with one of some keys at a moment.

    The signature must cover the host, so that it is of no use at another site.
    """
    verifier = _Verifier(signature_algorithm=algorithms.ED25519, key_resolver=_Keys(keys))
    verifier.moment = moment
    try:
        for covered in ("@authority", "@target-uri"):
            try:
                verifier.verify(
                    request, max_age=None, expect_tag=_TAG, require_components=(covered,)
                )
            except HTTPMessageSignaturesException:
                continue
            return True
    except Exception:  # noqa: BLE001 - the library raises others for hostile headers
        return False
    return False
