"""How much of a source is read."""

from __future__ import annotations

#: Bytes of a page: what is stated is in its head.
MAX_HTML = 256 << 10
#: Bytes of a tdmrep.json or a license.
MAX_DOCUMENT = 1 << 20
