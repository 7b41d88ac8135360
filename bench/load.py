"""A load generator in a process of its own: plain sockets, a fixed number of connections, a fixed time.

Reads an order a line from standard input, {"port", "path", "headers", "seconds", "connections"}, and answers each with
a line {"rate", "status", "bytes"}. It never parses what it has seen once: every answer must be as long as the first.
"""

import json
import selectors
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

BUFFER = bytearray(1 << 20)


def load(port: int, path: str, headers: Mapping[str, str], seconds: float, connections: int) -> dict[str, Any]:
    """Requests per second; each connection asks again once it is answered. Raises ValueError for an odd answer."""
    lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}\r\n".encode()
    status, length = first(port, request)
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ, [0])
        connection.sendall(request)
    answered, started = 0, time.perf_counter()
    end = started + seconds
    while (now := time.perf_counter()) < end:
        for key, _ in selector.select(end - now):
            one, got = key.fileobj, key.data
            assert isinstance(one, socket.socket)
            read = one.recv_into(BUFFER)
            got[0] += read
            if not read or got[0] > length:
                raise ValueError(f"{path}: an answer of {got[0]} bytes after one of {length}")
            if got[0] == length:
                answered, got[0] = answered + 1, 0
                one.sendall(request)
    elapsed = time.perf_counter() - started
    for key in list(selector.get_map().values()):
        assert isinstance(key.fileobj, socket.socket)
        key.fileobj.close()
    return {"rate": answered / elapsed, "status": status, "bytes": length}


def first(port: int, request: bytes) -> tuple[int, int]:
    """Status and length of the whole answer, head included."""
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(request)
        got = b""
        while b"\r\n\r\n" not in got:
            if not (part := one.recv(65536)):
                raise ValueError("the connection was closed within the head of an answer")
            got += part
    head = got.partition(b"\r\n\r\n")[0].lower()
    status = int(head.split()[1])
    body = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
    return status, len(head) + 4 + (0 if status == 304 else body)


if __name__ == "__main__":
    for order in sys.stdin:
        print(json.dumps(load(**json.loads(order))), flush=True)
