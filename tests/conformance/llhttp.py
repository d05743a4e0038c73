"""llhttp's cases: Markdown with the bytes, and the log that its parser must write."""

import asyncio
import dataclasses
import json
import os
import re

from stage import Result

# Its parser stops here on purpose: a pause, or the end of what is HTTP.
NO_FAULT = {21, 22, 23}
HOST = b"Host: conformance.test\r\n"
LENIENT = "accepted only where the parser is told to be lenient"
# Why Bascule does otherwise, by the title of the case. The manual has the same reasons.
KNOWN = {
    r"HTTP protocol and ANNOUNCE": "methods that are not known pass: they are between client and server",
    r"CONNECT|Underscore in hostname": "CONNECT is not offered",
    r"CRLF between requests, implicit|Response starting with CRLF|HTTP 100 first": "one empty line before a request, none before an answer",
    r"Funky `Content-Length`": "GET with a body",
    r"RTSP|ICE|PRI request": "another protocol",
    r"M-SEARCH": "the target * is for OPTIONS",
    r"No HTTP version|HTTP version 0.9": "HTTP/0.9",
    r"`chunked` as last|chunked` before other|chunkedchunked|chunked is not the last": "a transfer coding other than chunked",
    r"Fragment in URI": "a fragment in the target",
    r"basic auth": "user information in the target",
    r"HTTP 101 response": "an upgrade that nobody asked for",
}


@dataclasses.dataclass
class Message:
    # Where its fields begin.
    fields_at: int | None = None
    status: int | None = None
    has_host: bool = False
    has_head: bool = False
    body: int = 0
    is_whole: bool = False


@dataclasses.dataclass
class Case:
    name: str
    kind: str
    payload: bytes
    messages: list
    error: str | None

    @property
    def is_lenient(self):
        return "lenient" in self.kind

    @property
    def expected(self):
        whole = sum(message.is_whole for message in self.messages)
        said = f"{whole} whole" + (f", then: {self.error}" if self.error else "")
        return said + (" (lenient)" if self.is_lenient else "")

    @property
    def why(self):
        """Why Bascule may do otherwise; `None` where there is no known reason."""
        known = next((why for title, why in KNOWN.items() if re.search(title, self.name)), None)
        return LENIENT if self.is_lenient else known


def read(folder, kind):
    """Every case of one folder; those about the parser's interface alone are left out."""
    folder = os.path.join(folder, "test", kind)
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            lines = text.read().split("\n")
        title, meta, blocks, at = file, {}, {}, 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if line.startswith("#"):
                title = line.lstrip("# ")
            elif found := re.match(r"<!-- meta=(.*) -->", line):
                meta = json.loads(found[1])
            elif line.startswith("```"):
                end = lines.index("```", at)
                blocks[line[3:]] = "\n".join(lines[at:end])
                at = end + 1
                if line == "```log":
                    if not meta.get("skipBody"):
                        yield Case(f"{file}: {title}", meta["type"], payload_of(blocks["http"]), *expected_of(blocks["log"]))
                    meta, blocks = {}, {}


def payload_of(text):
    text = re.sub(r"\\\n", "", text).replace("\n", "\r\n")
    for escape, byte in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\f")):
        text = text.replace(escape, byte)
    text = re.sub(r"\\x([0-9a-fA-F]+)", lambda found: chr(int(found[1], 16)), text)
    text = re.sub(r"\\([0-7]{1,3})", lambda found: chr(int(found[1], 8)), text)
    return text.encode("utf-8" if any(ord(sign) > 255 for sign in text) else "latin-1")


def expected_of(log):
    messages, error, field = [], None, ""
    for line in log.split("\n"):
        off, _, what = line.partition(" ")
        off = int(off[4:]) if off[4:].isdigit() else 0
        if what == "message begin":
            messages.append(Message())
        elif found := re.match(r'error code=(\d+) reason="(.*)"', what):
            error = None if int(found[1]) in NO_FAULT else found[2]
        if not messages:
            continue
        last = messages[-1]
        if what == "version complete":
            last.fields_at = off
        elif found := re.match(r'len=\d+ span\[header_field\]="(.*)"', what):
            field = found[1]
            last.has_host |= field.lower() == "host"
        elif found := re.match(r"len=(\d+) span\[body\]", what):
            last.body += int(found[1])
        elif what.startswith("headers complete"):
            last.has_head = True
            last.status = int(found[1]) if (found := re.search(r"status=(\d+)", what)) else None
        elif what == "message complete":
            last.is_whole = True
    return messages, error


def with_host(case, number):
    """A request without Host is refused for that alone, so each gets one, where it has none; and the number of the case."""
    payload = case.payload
    for message in reversed(case.messages):
        end = re.match(rb"\r?\n|\r", payload[message.fields_at :]) if message.fields_at is not None else None
        if end:
            at = message.fields_at + end.end()
            line = payload[: message.fields_at].rsplit(b"\n", 1)[-1]
            named = re.match(rb"\S+ \w+://([^/?# ]+)", line)
            host = b"Host: %s\r\n" % named[1] if named else HOST
            added = (b"" if message.has_host else host) + b"X-Case: %d\r\n" % number
            payload = payload[:at] + added + payload[at:]
    return payload


async def requests(folder, stage):
    cases = list(read(folder, "request"))
    return await asyncio.gather(*(request(stage, number, case) for number, case in enumerate(cases)))


async def request(stage, number, case):
    payload = with_host(case, number)
    answers, ended = await stage.exchange(payload)
    if case.error and not ended and not any(not answer.from_behind for answer in answers):
        # Its parser judges each byte; a head is judged once it is there.
        answers, ended = await stage.exchange(payload + b"\r\n\r\n")
    arrived = stage.arrived[number]
    passed = [answer for answer in answers if answer.from_behind]
    refused = [answer.status for answer in answers if not answer.from_behind]
    whole = [message for message in case.messages if message.is_whole]
    seen = f"{len(passed)} passed" + (f", then {refused[0]}" if refused else "") + (", closed" if ended and not refused else "")
    verdict = "agreed"
    if len(passed) > len(whole):
        verdict = "differs"
    elif [request.body for request in arrived] != [message.body for message in whole[: len(passed)]]:
        verdict, seen = "differs", f"{seen}; bodies of {[request.body for request in arrived]}"
    elif case.error:
        verdict = "agreed" if ended or refused else "differs"
    elif refused:
        verdict = "stricter"
    elif len(passed) < len(whole):
        verdict = "differs"
    return Result(case.name, case.expected, seen, verdict, None if verdict == "agreed" else case.why)


async def answers(folder, stage):
    cases = list(read(folder, "response"))
    stage.answers = {number: case.payload for number, case in enumerate(cases)}
    return await asyncio.gather(*(answer(stage, number, case) for number, case in enumerate(cases)))


async def answer(stage, number, case):
    found, ended = await stage.exchange(b"GET /answer/%d HTTP/1.1\r\n%s\r\n" % (number, HOST))
    got = found[0] if found else None
    # Interim answers and whatever follows the one that was asked for are not the client's.
    final = next((m for m in case.messages if m.status is None or m.status >= 200 or m.status == 101), None)
    seen = f"{got.status}, {got.body} bytes{'' if got.whole else ', cut off'}" if got else ("closed" if ended else "waits")
    is_refused = got is None or not got.whole or got.status == 502
    if final is None or (case.error and not final.is_whole):
        verdict = "agreed" if is_refused else "differs"
    elif got and not final.is_whole and (got.status, got.body) == (final.status, final.body):
        verdict = "agreed"
    elif is_refused:
        verdict = "stricter"
    else:
        verdict = "agreed" if (got.status, got.body) == (final.status, final.body) else "differs"
    return Result(case.name, case.expected, seen, verdict, None if verdict == "agreed" else case.why)
