"""A reference implementation of the default dialect: simple, slow, and independent of the engine.

It follows the documentation (docs/reference/dialects/rfc9309.md) sentence by sentence. The property tests
compare the engine with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
SPACE = b" \t\n\r\v\f"
AGENT = {b"user-agent", b"useragent", b"user agent"}
ALLOW = {b"allow"}
DISALLOW = {b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"}


@dataclass
class Group:
    names: list[bytes] = field(default_factory=list)
    rules: list[tuple[bool, bytes, int]] = field(default_factory=list)
    closed: bool = False


def key_and_value(line: bytes) -> tuple[bytes, bytes] | None:
    line = line.split(b"#")[0].strip(SPACE)
    key, colon, value = line.partition(b":")
    if not colon:
        words = re.split(rb"[ \t]+", line)
        if len(words) != 2:
            return None
        key, value = words
    key = key.strip(SPACE).lower()
    return (key, value.strip(SPACE)) if key else None


def groups_of(body: bytes) -> list[Group]:
    groups: list[Group] = []
    lines = re.split(rb"\r\n|\r|\n", body.removeprefix(b"\xef\xbb\xbf"))
    for number, line in enumerate(lines, 1):
        key, value = key_and_value(line) or (b"", b"")
        if key in AGENT:
            if not groups or groups[-1].closed:
                groups.append(Group())
            groups[-1].names.append(value)
        elif groups and (key in ALLOW or key in DISALLOW):
            groups[-1].closed = True
            if value:
                groups[-1].rules.append((key in ALLOW, value, number))
    return groups


def is_everybody(name: bytes) -> bool:
    return name == b"*" or name.startswith((b"* ", b"*\t"))


def canonical_name(value: bytes) -> bytes:
    name = value.split(b"/")[0].rstrip(b"*" + SPACE)
    return b" ".join(name.lower().split())


def names_token(value: bytes, token: bytes) -> bool:
    if is_everybody(value):
        return False
    name = canonical_name(value)
    return bool(token) and (name == token or name.split(b" ")[0] == token)


def name_in_header(names: set[bytes], header: bytes) -> bytes | None:
    header = b" ".join(header.lower().split())
    for word in re.findall(rb"[^ ();,]+", header):
        if b"://" in word or b"@" in word or b"www." in word:
            header = re.sub(rb"(?<![^ ();,])" + re.escape(word) + rb"(?![^ ();,])", b"\n", header)
    found = []
    for name in names - {b"", b"mozilla", b"compatible"}:
        match = re.search(rb"(?<![a-z0-9_-])" + re.escape(name) + rb"(?![a-z0-9_-])", header)
        if match:
            found.append((-len(name), match.start(), name))
    return min(found)[2] if found else None


def chosen(groups: list[Group], agent: bytes) -> list[Group]:
    agent = agent.strip(SPACE)
    token, _, version = agent.partition(b"/")
    if re.search(rb"[\s()]", token) or re.search(rb"\s", version):
        names = {
            canonical_name(each) for group in groups for each in group.names
            if not is_everybody(each)
        }  # fmt: skip
        name = name_in_header(names, agent)
        named = [
            group for group in groups
            if name is not None
            and any(not is_everybody(each) and canonical_name(each) == name for each in group.names)
        ]  # fmt: skip
    else:
        named = [
            group for group in groups
            if any(names_token(each, token.lower()) for each in group.names)
        ]  # fmt: skip
    return named or [group for group in groups if any(is_everybody(each) for each in group.names)]


def path_of(url: bytes) -> bytes:
    url = url.split(b"#")[0]
    if url.startswith(b"//"):
        url = re.sub(rb"\A//[^/?]*", b"", url)
    else:
        url = re.sub(rb"\A[A-Za-z][A-Za-z0-9+.-]*://[^/?]*", b"", url)
    return url if url.startswith(b"/") else b"/" + url


def escaped(byte: int) -> bytes:
    """Return an escape with bytes that occur nowhere else, so no pattern matches only part of it."""
    return b"%" + bytes(each + 0x80 for each in b"%02X" % byte)


def canonical(raw_bytes: bytes, is_pattern: bool) -> bytes:
    out = b""
    query = False
    at = 0
    while at < len(raw_bytes):
        byte = raw_bytes[at : at + 1]
        escape = re.match(rb"%([0-9A-Fa-f]{2})", raw_bytes[at:])
        if escape:
            value = bytes([int(escape[1], 16)])
            plain = value in UNRESERVED or (query and value in (b"/", b"?"))
            out += value if plain else escaped(value[0])
            at += 3
            continue
        special = is_pattern and (byte == b"*" or (byte == b"$" and at + 1 == len(raw_bytes)))
        if byte in UNRESERVED or byte in b"/?&=" or special:
            out += byte
        else:
            out += escaped(byte[0])
        query = query or byte == b"?"
        at += 1
    return out


def matches(pattern: bytes, path: bytes) -> bool:
    """Match by dynamic programming over the prefixes of the path that the pattern can reach."""
    anchored = pattern.endswith(b"$")
    reach = {0}
    for byte in pattern[:-1] if anchored else pattern:
        if byte == ord("*"):
            reach = set(range(min(reach), len(path) + 1))
        else:
            reach = {at + 1 for at in reach if at < len(path) and path[at] == byte}
        if not reach:
            return False
    return len(path) in reach if anchored else True


def decide(body: bytes, url: str, agent: str) -> tuple[bool, int | None]:
    """Return the verdict and the line of the deciding rule."""
    path = path_of(url.encode("utf-8", "surrogatepass"))
    if path.split(b"?")[0] == b"/robots.txt":
        return True, None
    path = canonical(path, is_pattern=False)
    best: tuple[int, bool, int] | None = None
    for group in chosen(groups_of(body), agent.encode("utf-8", "surrogatepass")):
        for allow, value, line in group.rules:
            pattern = canonical(value, is_pattern=True)
            if matches(pattern, path):
                rank = (len(pattern), allow, -line)
                best = rank if best is None else max(best, rank)
    return (best[1], -best[2]) if best else (True, None)
