"""A hostile name server for names under .test, and a service that queries it.

Runs as root in separate namespaces, with its own /etc/resolv.conf and only the loopback network:
``unshare --mount --net python rebinding.py PATH``. Prints the results as JSON.
"""

from __future__ import annotations

import collections
import fcntl
import ipaddress
import json
import socket
import struct
import subprocess
import sys
import threading
import time

import httpx2

#: A public address. It is not reachable here, so no request leaves the machine.
PUBLIC = "93.184.216.34"
SERVER = "127.0.0.153"
#: The addresses of each name: the first answer and later ones, for A and AAAA queries.
NAMES: dict[str, list[list[str]]] = {
    "flips": [[PUBLIC], ["127.0.0.1"]],
    "loopback": [["127.0.0.1"]],
    "mixed": [[PUBLIC, "127.0.0.1", "10.0.0.1"]],
    "mapped": [["::ffff:127.0.0.1"]],
    "six": [["::1"]],
    "both": [["::1", "127.0.0.1"]],
    "zero": [["0.0.0.0"]],
    "nat64": [["64:ff9b::7f00:1"]],
    "unspecified": [["::"]],
    "link": [["169.254.169.254", "fe80::1"]],
    "many": [[f"127.0.{number}.1" for number in range(20)]],
    "alias": [["alias:loopback.test"]],
    "aliasflip": [[PUBLIC], ["alias:localhost"]],
    "nothing": [[]],
    "garbage": [["garbage"]],
    "silent": [["silent"]],
}


def encode_name(name: str) -> bytes:
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def response_to(query: bytes, queries: collections.Counter[tuple[str, int]]) -> bytes | None:
    """Return the response to a query, or None to send none."""
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1").lower())
        at += 1 + query[at]
    (record_type,) = struct.unpack(">H", query[at + 1 : at + 3])
    question = query[12 : at + 5]
    states = NAMES.get(labels[0], [[]])
    number = queries[labels[0], record_type]
    queries[labels[0], record_type] += 1
    records = []
    for each in states[min(number, len(states) - 1)]:
        if each == "silent":
            return None
        if each == "garbage":
            return query[:2] + b"\x81\x80" + b"\xff" * 500
        if each.startswith("alias:"):
            other = encode_name(each.removeprefix("alias:"))
            records.append(struct.pack(">HHHIH", 0xC00C, 5, 1, 0, len(other)) + other)
            if record_type == 1:
                data = ipaddress.ip_address("127.0.0.1").packed
                records.append(other + struct.pack(">HHIH", record_type, 1, 0, len(data)) + data)
            continue
        address = ipaddress.ip_address(each)
        if record_type == (1 if address.version == 4 else 28):
            data = address.packed
            records.append(struct.pack(">HHHIH", 0xC00C, record_type, 1, 0, len(data)) + data)
    head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(records), 0, 0)
    return head + question + b"".join(records)


def start_name_server() -> collections.Counter[tuple[str, int]]:
    queries: collections.Counter[tuple[str, int]] = collections.Counter()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((SERVER, 53))

    def serve() -> None:
        while True:
            query, client = server.recvfrom(4096)
            response = response_to(query, queries)
            if response is not None:
                server.sendto(response, client)

    threading.Thread(target=serve, daemon=True).start()
    return queries


def start_canary(family: socket.AddressFamily, host: str, port: int, hits: list[str]) -> None:
    """Record each connection to a local service."""
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((host, port))
    server.listen(50)

    def serve() -> None:
        while True:
            connection, client = server.accept()
            hits.append(f"{host}:{port} from {client[0]}")
            body = b"User-agent: *\nDisallow: /secret\n"
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            connection.sendall(head + body)
            connection.close()

    threading.Thread(target=serve, daemon=True).start()


def bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        set_flags, up_and_running = 0x8914, 0x41
        fcntl.ioctl(connection, set_flags, struct.pack("16sh14x", b"lo", up_and_running))


def main(path: str) -> None:
    bring_loopback_up()
    with open(path, "w") as file:
        file.write(f"nameserver {SERVER}\noptions timeout:1 attempts:1\n")
    subprocess.run(["mount", "--bind", path, "/etc/resolv.conf"], check=True)
    queries = start_name_server()
    hits: list[str] = []
    start_canary(socket.AF_INET, "0.0.0.0", 80, hits)
    start_canary(socket.AF_INET6, "::1", 80, hits)
    command = [sys.executable, "-m", "koster", "serve", "--port", "0", "--cache", "memory"]
    command += ["--rate", "0", "--fetch-timeout", "3", "--log", "error"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split("at ")[1].split(";")[0]
        bodies = {}
        with httpx2.Client(base_url=url, timeout=30, trust_env=False) as api:
            until = time.monotonic() + 30
            while True:
                try:
                    api.get("/healthz")
                    break
                except httpx2.ConnectError:
                    assert time.monotonic() < until
                    time.sleep(0.1)
            for _ in range(3):
                for name in NAMES:
                    # Each scheme is a separate origin, with its own cache entry.
                    for scheme in ("http", "https"):
                        params = {"site": f"{scheme}://{name}.test", "max_age": 60}
                        response = api.get("/v1/fetch", params=params)
                        bodies[f"{scheme} {name}"] = (
                            response.status_code,
                            response.json().get("why"),
                        )
        process.terminate()
        process.wait(30)
    names = {name for name, _ in queries}
    result = {"hits": hits, "queried": sorted(names), "names": sorted(NAMES), "answers": bodies}
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
