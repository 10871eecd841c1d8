"""Whether a service is well, in tests."""

from __future__ import annotations

import httpx2


def is_well(url: str) -> bool:
    """Tell whether the service answers others."""
    return httpx2.post(f"{url}/v1/decide", json={"robots": "", "urls": ["/"]}).status_code == 200
