"""A Bascule with a vserver in the clear and one with TLS, before a server that writes down what arrives."""

import asyncio
import collections
import dataclasses
import json
import os
import re
import subprocess

CONFIG = """
[service.behind]
type = "HTTP"
address = "127.0.0.1:{behind}"
health_monitor = false
[certificate.site]
certificate = "site.crt"
key = "site.key"
[vserver.clear]
type = "HTTP"
address = "127.0.0.1:0"
services = ["behind"]
http2 = true
[vserver.tls]
type = "SSL"
address = "127.0.0.1:0"
services = ["behind"]
certificates = ["site"]
"""
FIELDS = re.compile(rb"^([^:\r\n]*):[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
# Without a byte for so long, nothing more comes.
QUIET_S = 0.5
AT_ONCE = 16
BEHIND = b"HTTP/1.1 200 OK\r\nX-Behind: 1\r\nContent-Length: 7\r\n\r\n"


@dataclasses.dataclass
class Result:
    case: str
    expected: str
    seen: str
    verdict: str
    why: str | None = None

    def cells(self):
        return self.case, self.expected, self.seen, self.verdict, self.why or ""


@dataclasses.dataclass
class Answer:
    status: int
    # Made by the server behind; else by Bascule.
    from_behind: bool
    body: int
    whole: bool


@dataclasses.dataclass
class Arrived:
    head: bytes
    body: int


class Stage:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        # By the number of the case, from the field `X-Case`.
        self.arrived = collections.defaultdict(list)
        # What `GET /answer/N` is answered with, byte for byte; the connection ends behind it.
        self.answers = {}
        self.at_once = asyncio.Semaphore(AT_ONCE)

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.behind, "127.0.0.1", 0, limit=1 << 20)
        port = self.server.sockets[0].getsockname()[1]
        new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "site.key", "-out", "site.crt"]
        command = ["openssl", "req", "-x509", *new, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        with open(os.path.join(self.folder, "box.toml"), "w") as file:
            file.write(CONFIG.format(behind=port))
        ready, log = os.path.join(self.folder, "ready.json"), os.path.join(self.folder, "log")
        run = [self.binary, "run", "--config", "box.toml", "--ephemeral", "--ready-file", ready, "--drain", "1s"]
        with open(log, "wb") as file:
            run += ["--set", "admin.listen=127.0.0.1:0"]
            self.process = subprocess.Popen(run, cwd=self.folder, stdout=file, stderr=file)
        for _ in range(1000):
            if os.path.exists(ready) or self.process.poll() is not None:
                break
            await asyncio.sleep(0.02)
        if not os.path.exists(ready):
            raise SystemExit(f"Bascule does not start:\n{open(log).read()}")
        listening = json.load(open(ready))["vservers"]
        self.clear, self.tls = (int(listening[name].rsplit(":", 1)[1]) for name in ("clear", "tls"))
        return self

    async def __aexit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.server.close()

    async def behind(self, reader, writer):
        """The server: it reads what a proxy may send and nothing more, and writes it down."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = {name.lower(): value for name, value in FIELDS.findall(head)}
                asked = re.match(rb"\S+ (?:https?://[^/ ]*)?/answer/(\d+)", head)
                if asked:
                    writer.write(self.answers[int(asked[1])])
                    await writer.drain()
                    return
                body = await body_of(reader, fields)
                case = fields.get(b"x-case", b"")
                if case.isdigit():
                    self.arrived[int(case)].append(Arrived(head, body))
                writer.write(BEHIND + (b"" if head.startswith(b"HEAD ") else b"behind\n"))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def exchange(self, payload):
        """Sends this on a connection of its own. The answers, and whether Bascule ended the connection."""
        async with self.at_once:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.clear)
            came, ended = b"", False
            try:
                writer.write(payload)
                await writer.drain()
                while True:
                    part = await asyncio.wait_for(reader.read(65536), QUIET_S)
                    ended = not part
                    if ended:
                        break
                    came += part
            except asyncio.TimeoutError:
                pass
            except ConnectionError:
                ended = True
            writer.close()
            return answers_of(came), ended


async def body_of(reader, fields):
    if b"transfer-encoding" in fields:
        length = 0
        while size := int(await reader.readuntil(b"\r\n"), 16):
            length += len(await reader.readexactly(size + 2)) - 2
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass
        return length
    return len(await reader.readexactly(int(fields.get(b"content-length", b"0"))))


def answers_of(came):
    """Final answers, in order."""
    found = []
    while came:
        head, end, rest = came.partition(b"\r\n\r\n")
        status = re.match(rb"HTTP/1\.[01] (\d\d\d)", head)
        if not end or not status:
            break
        status, fields = int(status[1]), {name.lower(): value for name, value in FIELDS.findall(head)}
        if 100 <= status < 200 and status != 101:
            came = rest
            continue
        body, came, whole = split(status, fields, rest)
        found.append(Answer(status, b"x-behind" in fields, body, whole))
    return found


def split(status, fields, rest):
    """The length of the body, what follows it, and whether all of it is there."""
    if status in (101, 204, 304):
        return 0, rest, True
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        length = 0
        while True:
            line, end, after = rest.partition(b"\r\n")
            if not end:
                return length, b"", False
            size = int(line, 16)
            if size == 0:
                return length, after.partition(b"\r\n")[2], b"\r\n" in after
            length, rest = length + min(size, len(after)), after[size + 2 :]
    if b"content-length" in fields:
        length = int(fields[b"content-length"])
        return min(length, len(rest)), rest[length:], len(rest) >= length
    return len(rest), b"", True
