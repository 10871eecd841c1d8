"""Hosts: what looks like one, and which ones nobody can fetch."""

from __future__ import annotations

import functools
import ipaddress
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

#: Domains that are also types of files: ``install.sh`` is no host.
_FILE_TYPES = frozenset(
    ("ai", "app", "cc", "do", "md", "mov", "pl", "ps", "py", "rs", "sh", "so", "zip")
)
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+[a-z][a-z0-9-]*(?=[/:?]|\Z)", re.IGNORECASE
)

#: Names for use in private networks, tests and documents (RFC 6761, 6762, 8375, 9476). Without
#: ``.example``, which texts about robots.txt have, such as ours.
_PRIVATE = re.compile(
    r"(?:\A|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|home\.arpa|corp|test|invalid|alt|onion)\Z"
)
#: What templates leave where the host should be.
_PLACEHOLDER = re.compile(
    r"[<>{}\[\]%$*]|\A(?:www\.)?(?:undefined|null|none|nan|false|host(?:name)?|domain|site)\Z"
    r"|(?:\A|\.)(?:example\.(?:com|net|org)"
    r"|your-?(?:own-?)?(?:domain|website|web-?site|site|host|company|blog|shop|store|app|project|business|name)(?:-?(?:name|here|url))?\.[a-z.]+"
    r"|my-?(?:domain|website|site)\.[a-z.]+|(?:domain|website|site|host)-?name\.[a-z.]+"
    r"|[a-z.-]+\.tld|change-?me\.[a-z]+)\Z"
)
#: Addresses of single deployments, branches and tunnels, by the documentation of the services.
_PREVIEW = re.compile(
    r"-git-[a-z0-9-]+\.vercel\.app\Z|-[a-z0-9]{9}-[a-z0-9-]+\.vercel\.app\Z|--[a-z0-9-]+\.netlify\.app\Z"
    r"|\A[a-z0-9-]+\.[a-z0-9-]+\.pages\.dev\Z|--[a-z0-9-]+\.web\.app\Z|-pr-[0-9]+\.(?:onrender|herokuapp)\.com\Z"
    r"|\.(?:ngrok\.io|ngrok-free\.app|ngrok\.app|trycloudflare\.com|loca\.lt|app\.github\.dev|gitpod\.io"
    r"|webcontainer\.io|amplifyapp\.com|surge\.sh)\Z|-pr-?[0-9]+\.(?:up\.railway\.app|fly\.dev)\Z"
)
#: Addresses that deploy services give to every project, also to those with a domain of their own.
_DEPLOYED = re.compile(
    r"\.(?:vercel\.app|now\.sh|netlify\.app|pages\.dev|workers\.dev|web\.app|firebaseapp\.com|onrender\.com"
    r"|herokuapp\.com|up\.railway\.app|fly\.dev|azurewebsites\.net|azurestaticapps\.net|cloudfront\.net"
    r"|run\.app|appspot\.com|wpengine\.com|kinsta\.cloud|replit\.app|repl\.co|lovable\.app)\Z"
)


def host_in_path(pattern: str) -> str | None:
    """Return the host that a rule begins with, or None.

    >>> host_in_path("blog.example.app/x"), host_in_path("index.html"), host_in_path("install.sh")
    ('blog.example.app', None, None)
    """
    match = _HOST.match(pattern)
    if match is None:
        return None
    host = match[0].lower()
    labels = host.split(".")
    if host.startswith("www."):
        return match[0]
    if labels[-1] in _FILE_TYPES and match.end() == len(pattern) and len(labels) < 3:
        return None
    return match[0] if _is_registrable(host) else None


def _is_registrable(host: str) -> bool:
    suffixes = _suffixes()
    return suffixes is not None and suffixes.privatesuffix(host) is not None


@functools.cache
def _suffixes() -> PublicSuffixList | None:
    try:
        from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - it takes 0.1 s
    except ModuleNotFoundError:
        return None
    return PublicSuffixList(accept_unknown=False)


def why_unreachable(host: str) -> str | None:
    """Return why nobody can fetch from a host, or None.

    >>> why_unreachable("localhost"), why_unreachable("shop.test"), why_unreachable("koster.dev")
    ('is only for private use', 'is only for private use', None)
    """
    name = host.lower().strip(".")
    if name in ("http", "https"):
        return f"has {name}:// twice"
    if _PLACEHOLDER.search(name):
        return "is a placeholder"
    if _PREVIEW.search(name):
        return "is a preview of the site"
    if _PRIVATE.search(name):
        return "is only for private use"
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None if "." in name else "is no public host"
    return None if address.is_global else "is only for private use"


def is_deployed(host: str) -> bool:
    """Return whether a host is an address that a deploy service gives to every project."""
    return _DEPLOYED.search(host.lower()) is not None
