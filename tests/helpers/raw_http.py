"""Whether a service responds, for tests."""

from __future__ import annotations

import httpx2


def is_responsive(url: str) -> bool:
    """Return whether the service answers a request."""
    return httpx2.post(f"{url}/v1/decide", json={"robots": "", "urls": ["/"]}).status_code == 200
