"""Load generators. Each runs for some seconds and tells the units of work that were done, without a single error."""

import os
import re
import subprocess

from .machine import LOAD_CORE, Failed, on_core


def run(command, seconds, core=LOAD_CORE):
    try:
        done = subprocess.run(on_core(core, command), capture_output=True, text=True, timeout=seconds + 20)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{command[0]} does not end; {command[-1]} may have stopped answering") from error
    text = done.stdout + done.stderr
    if done.returncode != 0:
        raise Failed(f"{command[0]} failed:\n{text[-1500:]}")
    return text


def number(pattern, text, what):
    found = re.search(pattern, text)
    if not found:
        raise Failed(f"{what} said nothing of {pattern}:\n{text[-1500:]}")
    return int(found.group(1))


def wrk(url, seconds, connections, cookie=None, close=False):
    headers = [f"Cookie: {cookie}"] if cookie else []
    headers += ["Connection: close"] if close else []
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s"]
    for header in headers:
        command += ["-H", header]
    text = run([*command, url], seconds)
    if "Socket errors" in text or "Non-2xx" in text:
        raise Failed(f"{url} had errors under load:\n{text}")
    return number(r"(\d+) requests in", text, "wrk")


def h2load(url, seconds, connections, headers=(), streams=10):
    command = ["h2load", "-t1", f"-c{connections}", f"-m{streams}", f"-D{seconds}"]
    for header in headers:
        command += ["-H", header]
    text = run([*command, url], seconds)
    done = number(r"(\d+) succeeded", text, "h2load")
    # At the end of the time it cuts what is under way, which is nobody's error.
    if number(r"status codes: (\d+) 2xx", text, "h2load") < done or "Application protocol: h2" not in text:
        raise Failed(f"{url} had errors under load:\n{text}")
    return done


def udp(tools, port, seconds, clients):
    text = run([os.path.join(tools, "udp"), "load", f"127.0.0.1:{port}", str(seconds), str(clients), "512"], seconds)
    sent, came = number(r"sent (\d+)", text, "udp"), number(r"came (\d+)", text, "udp")
    if came < sent * 0.999:
        raise Failed(f"port {port} lost datagrams: {text}")
    return came
