"""The guard against SSRF: which addresses a client may connect to.

A service that fetches URLs of untrusted users must not reach its own network. The guard checks
each resolved address directly before the connection, for every hop, so DNS rebinding has no effect.

Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates),
RFC 5771 and RFC 4291 for multicast, RFC 6598 (CGNAT), the documentation of the cloud providers for
their metadata services, and the port blocking of the Fetch standard (fetch.spec.whatwg.org).
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

#: Networks that are not public, with their description for messages.
_NOT_PUBLIC_V4 = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by a carrier (CGNAT)",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "a cloud's metadata service (Azure)",
    "169.254.0.0/16": "link-local, and clouds' metadata services",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "for protocols, and a cloud's metadata service (Oracle)",
    "192.0.2.0/24": "for documentation",
    "192.31.196.0/24": "for protocols (AS112)",
    "192.52.193.0/24": "for protocols (AMT)",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "for protocols (AS112)",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved, and broadcast",
}
#: "Bad ports" of the Fetch standard, used by other protocols: mail, DNS, printers.
_BLOCKED_PORTS = frozenset(
    {
        0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
        101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161,
        179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563,
        587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
        5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    }
)  # fmt: skip
#: Inside 2000::/3; everything outside is refused.
_NOT_PUBLIC_V6 = {
    "2001::/23": "for protocols, and Teredo",
    "2001:db8::/32": "for documentation",
    "2002::/16": "6to4",
    "2620:4f:8000::/48": "for protocols (AS112)",
    "3fff::/20": "for documentation",
}
_V4 = [(ipaddress.IPv4Network(text), what) for text, what in _NOT_PUBLIC_V4.items()]
_V6 = [(ipaddress.IPv6Network(text), what) for text, what in _NOT_PUBLIC_V6.items()]
_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")
#: RFC 6052: IPv4 addresses as seen by hosts with only IPv6; a legitimate prefix in such networks.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class RefusedAddressError(OSError):
    """The guard blocks an address."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Blocks addresses that are not public, and ports that are not used for the web.

    ``also`` are networks that are allowed in addition, such as ``("10.1.2.0/24",)``.
    """

    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for text in self.also:
            ipaddress.ip_network(text)

    def why_not(self, address: str) -> str | None:
        """Return why an address is blocked, or None if it is allowed.

        >>> PUBLIC_ONLY.why_not("::ffff:169.254.169.254")
        "link-local, and clouds' metadata services"
        """
        try:
            found = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return "not an IP address"
        if isinstance(found, ipaddress.IPv6Address):
            inner = _embedded_ipv4(found)
            if inner is None:
                return None if self._is_exempt(found) else _why_not_v6(found)
            found = inner
        return None if self._is_exempt(found) else _why_not_v4(found)

    def why_not_at(self, port: int) -> str | None:
        """Return why a port is blocked, or None if it is allowed.

        >>> PUBLIC_ONLY.why_not_at(25)
        'not a web port: browsers block it too'
        """
        return "not a web port: browsers block it too" if port in _BLOCKED_PORTS else None

    def _is_exempt(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
        return any(address in ipaddress.ip_network(text) for text in self.also)


def _embedded_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _why_not_v4(address: ipaddress.IPv4Address) -> str | None:
    return next((what for network, what in _V4 if address in network), None)


def _why_not_v6(address: ipaddress.IPv6Address) -> str | None:
    if address not in _UNICAST_V6:
        return "not a public address (loopback, link-local, private, multicast or reserved)"
    what = next((what for network, what in _V6 if address in network), None)
    # ISATAP (RFC 5214): the last 32 bits are the IPv4 destination.
    if what is None and (int(address) >> 32) & 0xFDFFFFFF == 0x5EFE:
        what = "ISATAP"
    return what


#: Blocks loopback, private, link-local, multicast, CGNAT, cloud-metadata and reserved
#: addresses, of IPv4, IPv6 and IPv4 in IPv6.
PUBLIC_ONLY = Guard()
