"""What is read of a source, and how much."""

from __future__ import annotations

#: The type of license documents that koster reads.
RSL_TYPE = "application/rsl+xml"

#: Bytes of a page: what is stated is in its head.
MAX_HTML = 256 << 10
#: Bytes of a tdmrep.json or a license.
MAX_DOCUMENT = 1 << 20
