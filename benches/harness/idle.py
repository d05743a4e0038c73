"""Opens many connections, makes one request on each, and holds them until its stdin ends.

Run as a process of its own: `idle.py PORT COUNT`. Writes `open N` once all are open and answered."""

import select
import socket
import sys

REQUEST = b"GET /small HTTP/1.1\r\nHost: bench.test\r\n\r\n"
AT_ONCE = 200


def main(port, count):
    held = []
    for first in range(0, count, AT_ONCE):
        batch = []
        for at in range(first, min(first + AT_ONCE, count)):
            client = socket.socket()
            # Several addresses, so that there are source ports enough.
            client.bind((f"127.0.0.{2 + at % 8}", 0))
            client.connect(("127.0.0.1", port))
            client.sendall(REQUEST)
            batch.append(client)
        for client in batch:
            client.settimeout(20)
            answer = b""
            while b"behind\n" not in answer:
                part = client.recv(4096)
                if not part:
                    sys.exit(f"connection {len(held)} was closed after {answer!r}")
                answer += part
            held.append(client)
    print(f"open {len(held)}", flush=True)
    sys.stdin.read()
    ended = [client for client in held if is_ended(client)]
    print(f"ended {len(ended)}", flush=True)


def is_ended(client):
    poll = select.poll()
    poll.register(client, select.POLLIN)
    return bool(poll.poll(0))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
