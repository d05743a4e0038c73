"""smuggler: Transfer-Encoding in every disguise, beside a Content-Length. Whatever is passed on must have one length only."""

import asyncio
import os
import re

from stage import Result

HIDDEN = "GET /hidden HTTP/1.1\r\nHost: conformance.test\r\nX-Case: {case}\r\n\r\n"
FORMS = {
    # A reader by chunks ends early and finds a request behind.
    "ends early": "0\r\n\r\n{hidden}",
    # A reader by length ends early.
    "ends late": "1\r\nZ\r\n0\r\n\r\n",
}


class Payload:
    """What the suite's configs make: only `header` is theirs."""

    header = ""


async def run(folder, stage):
    cases = []
    for config in sorted(os.listdir(os.path.join(folder, "configs"))):
        scope = {"mutations": {}, "Payload": Payload}
        with open(os.path.join(folder, "configs", config)) as file:
            exec(compile(file.read(), config, "exec"), scope)
        for name, payload in scope["mutations"].items():
            cases += [(f"{config} {name}, {form}", payload.header, form) for form in FORMS]
    # Behind the numbers of every other suite.
    tasks = [judge(stage, 1_000_000 + at, *case) for at, case in enumerate(cases)]
    return await asyncio.gather(*tasks)


async def judge(stage, number, case, header, form):
    body = FORMS[form].format(hidden=HIDDEN.format(case=number))
    # In the second form the length is that of the first line.
    length = len(body) if form == "ends early" else 3
    head = header.replace("__METHOD__", "POST").replace("__ENDPOINT__", "/").replace("__HOST__", "conformance.test")
    head = re.sub("__RANDOM__", "1", head).replace("__REPLACE_CL__", str(length))
    first, _, rest = head.partition("\r\n")
    answers, ended = await stage.exchange(f"{first}\r\nX-Case: {number}\r\n{rest}\r\n{body}".encode("latin-1"))
    arrived = stage.arrived[number]
    seen = ", ".join(str(answer.status) for answer in answers) or ("closed" if ended else "waits")
    if not arrived and ended:
        return Result(case, "refused, or one length", seen, "agreed")
    lengths = [lengths_of(request.head) for request in arrived]
    hidden = any(b"/hidden" in request.head.split(b"\r\n")[0] for request in arrived)
    if hidden or lengths != [1]:
        return Result(case, "refused, or one length", f"{seen}; {lengths} lengths, {'with' if hidden else 'without'} the hidden one", "differs")
    return Result(case, "refused, or one length", f"{seen}, with one length", "agreed")


def lengths_of(head):
    """Fields that anybody could take for a length, whatever is around their names."""
    names = (line.partition(b":")[0].lower() for line in re.split(rb"[\r\n]+", head)[1:])
    return sum(re.sub(rb"[^a-z-]", b"", name) in (b"transfer-encoding", b"content-length") for name in names)
