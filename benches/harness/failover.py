"""What clients notice of a server that is killed and comes back: requests that failed, and the longest wait.

Each of several members in turn is ended by SIGKILL under load and started again later. The clients send GET, which may be
repeated, over connections that they keep; whatever does not end in a whole 200 has failed."""

import asyncio
import os
import time

from .machine import LOAD_CORE, Failed, Process
from .rows import Target

CLIENTS = 32
MEMBERS = (21040, 21041, 21042)
REQUEST = b"GET /small HTTP/1.1\r\nHost: bench.test\r\n\r\n"
BODY = b"hello from behind\n"
TARGETS = (
    Target("Bascule", "bascule-failover", 21030),
    Target("HAProxy, `option redispatch`", "haproxy-failover", 21130),
)
# A probe a second, three to take a member down and two to bring it back, and then some.
DEAD_SECONDS = 5
ALIVE_SECONDS = 4
# A client gives up then.
PATIENCE_SECONDS = 10


class Seen:
    """What all clients of one target saw."""

    def __init__(self):
        self.asked = self.failed = 0
        self.longest = 0.0
        self.first_failure = ""
        self.is_over = False


class Members:
    """The servers behind, each of one process."""

    def __init__(self, folder):
        self.folder, self.running = folder, {}
        with open(os.path.join(folder, "member.conf")) as file:
            self.text = file.read()

    def __enter__(self):
        for port in MEMBERS:
            self.start(port)
        return self

    def __exit__(self, *_):
        for process in self.running.values():
            process.stop()

    def start(self, port):
        file = f"member-{port}.conf"
        with open(os.path.join(self.folder, file), "w") as conf:
            conf.write(self.text.replace("PORT", str(port)))
        process = Process(f"member-{port}", LOAD_CORE, ["nginx", "-p", ".", "-c", file], self.folder)
        self.running[port] = process
        process.wait_for_port(port)

    def kill(self, port):
        process = self.running.pop(port).process
        process.kill()
        process.wait()


def failover(servers, _seconds):
    """Members that are killed and come back."""
    found = []
    with Members(servers.folder) as members:
        for target in TARGETS:
            servers.get(target.kind)
            seen = asyncio.run(run(target.port, members))
            servers.stop(target.kind)
            if seen.asked < 1000 or seen.failed == seen.asked:
                raise Failed(f"{target.name} did not serve: {seen.failed} of {seen.asked} failed, {seen.first_failure}")
            goal, met = "–", ""
            if target is TARGETS[0]:
                goal, met = "0 failed", "met" if seen.failed == 0 else f"missed by {seen.failed}"
            first = f" (the first: {seen.first_failure})" if seen.failed else ""
            found.append((
                f"{target.name}: {seen.asked} GET while each of {len(MEMBERS)} members is killed and comes back",
                f"{seen.failed} failed{first}, longest wait {seen.longest * 1000:.0f} ms", goal, met,
            ))
    return found


async def run(port, members):
    seen = Seen()
    clients = [asyncio.create_task(client(port, seen)) for _ in range(CLIENTS)]
    # All members are up by then, at both.
    await asyncio.sleep(ALIVE_SECONDS)
    for member in MEMBERS:
        members.kill(member)
        await asyncio.sleep(DEAD_SECONDS)
        # Not a moment of the clients' is spent on waiting for it.
        await asyncio.to_thread(members.start, member)
        await asyncio.sleep(ALIVE_SECONDS)
    seen.is_over = True
    await asyncio.gather(*clients)
    return seen


async def client(port, seen):
    """Asks over one connection until it is over; over another where that is closed."""
    reader = writer = None
    while not seen.is_over:
        begun = time.monotonic()
        seen.asked += 1
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(REQUEST)
                stays = await answered(reader)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            seen.failed += 1
            what = "the connection was closed" if isinstance(error, EOFError) else str(error) or type(error).__name__
            seen.first_failure = seen.first_failure or what
            stays = False
        seen.longest = max(seen.longest, time.monotonic() - begun)
        if not stays and writer is not None:
            writer.close()
            writer = None
    if writer is not None:
        writer.close()


async def answered(reader):
    """Whether the connection stays open. An answer that is not whole and good is an error."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    status = head.split(" ", 2)[1]
    fields = dict(line.split(":", 1) for line in head.split("\r\n")[1:] if ":" in line)
    body = await reader.readexactly(int(fields.get("content-length", "0")))
    if status != "200" or body != BODY:
        raise ValueError(f"status {status}")
    return "close" not in fields.get("connection", "")
