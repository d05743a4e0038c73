"""Opens many connections, makes one request on each, holds them until its stdin ends, and makes one more on each.

Run as a process of its own: `idle.py PORT COUNT`. Writes `open N` once all are open and answered, and in the end `served N`:
how many answered the last request."""

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
            answer = answer_of(client)
            if not is_whole(answer):
                sys.exit(f"connection {len(held)} was closed after {answer!r}")
            held.append(client)
    print(f"open {len(held)}", flush=True)
    sys.stdin.read()
    batches = (held[first : first + AT_ONCE] for first in range(0, len(held), AT_ONCE))
    print(f"served {sum(map(served, batches))}", flush=True)


def answer_of(client):
    answer = b""
    while not is_whole(answer):
        part = client.recv(4096)
        if not part:
            break
        answer += part
    return answer


def is_whole(answer):
    return answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"behind\n")


def served(batch):
    """How many of them answer a request still."""
    asked = [client for client in batch if has_done(lambda: client.sendall(REQUEST) is None)]
    return sum(has_done(lambda: is_whole(answer_of(client))) for client in asked)


def has_done(what):
    try:
        return what()
    except OSError:
        return False


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
