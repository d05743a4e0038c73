"""h2spec: its strict cases as well."""

import asyncio
import os
import xml.etree.ElementTree as ElementTree

from stage import Result

# By the case's title: why it is so.
KNOWN = {
    "Sends invalid connection preface": "HTTP/1 is served on the same port: without the preface it is a malformed request, answered 400 and closed",
}


async def run(program, port, tls, folder):
    report = os.path.join(folder, f"h2spec-{port}.xml")
    command = [program, "-h", "127.0.0.1", "-p", str(port), "-S", "-j", report, *(["-t", "-k"] if tls else [])]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    await process.wait()
    return [result(suite, case, tls) for suite in ElementTree.parse(report).iter("testsuite") for case in suite.iter("testcase")]


def result(suite, case, tls):
    title = case.get("classname") or case.get("name")
    name = f"{suite.get('package')}: {title}"
    wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
    if wrong is None:
        return Result(name, "as it does", "the same", "agreed")
    expected, _, actual = (wrong.text or "").strip().rpartition("\n")
    return Result(name, " or ".join(expected.split("\n")), actual, "differs", None if tls else KNOWN.get(title))
