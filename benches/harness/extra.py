"""Figures that are not a ratio to a peer under one load: idle connections, scale, start."""

import os
import resource
import subprocess
import sys
import time
from statistics import median

from . import duties, load
from .failover import failover
from .machine import LOAD_CORE, SERVER_CORE, Failed, Process, on_core
from .rows import L7, url

IDLE_WANTED = 20_000
# Open files that a proxy keeps for something else than the connections of this trial.
IDLE_RESERVE = 5_200
IDLE_SECONDS = 5
# The median of so many stretches of that length: one may meet whatever else the machine has to do.
IDLE_STRETCHES = 3
# What opening them left to do is over then.
IDLE_SETTLED_SECONDS = 5
# For both sides of the connections, and then some.
FILES_WANTED = 65_536
# Percent of a core.
IDLE_BUSY_MOST = 1
MANY_SERVICES = 10_000


class Idle:
    """Open connections, each with one answered request; another one, and the end, at the end of the `with` block."""

    def __init__(self, port, count):
        command = [sys.executable, os.path.join(os.path.dirname(__file__), "idle.py"), str(port)]
        per_process = 15_000
        self.helpers = [
            subprocess.Popen(
                on_core(LOAD_CORE, [*command, str(min(per_process, count - first))]),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for first in range(0, count, per_process)
        ]
        for helper in self.helpers:
            said = helper.stdout.readline()
            if not said.startswith("open"):
                raise Failed(f"port {port} did not hold {count} connections open")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.served = sum(int(helper.communicate()[0].split()[1]) for helper in self.helpers)


def share_of_core(process):
    """Percent, over a stretch."""
    begun = process.cpu_ns()
    time.sleep(IDLE_SECONDS)
    return (process.cpu_ns() - begun) / IDLE_SECONDS / 1e7


def idle(servers, _seconds):
    """Keep-alive connections that do nothing."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(IDLE_WANTED, (files - IDLE_RESERVE) // 2)
    short = "" if count == IDLE_WANTED else f" (of {IDLE_WANTED}: this machine allows {files} open files a process)"
    found = []
    for target in L7[:2]:
        servers.stop(target.kind)
        process = servers.get(target.kind)
        duties.served(target.name, target.port)
        before = process.resident_bytes()
        with Idle(target.port, count) as held:
            memory = (process.resident_bytes() - before) / count / 1024
            time.sleep(IDLE_SETTLED_SECONDS)
            busy = median(share_of_core(process) for _ in range(IDLE_STRETCHES))
        if held.served != count:
            raise Failed(f"{target.name} served {held.served} of {count} idle connections once more")
        what = f"{target.name}: {count} idle keep-alive connections{short}, each served once more"
        met = ("met" if busy < IDLE_BUSY_MOST else "missed") if target is L7[0] else ""
        found.append((what, f"{memory:.1f} KiB each, {busy:.2f} % of a core", f"< {IDLE_BUSY_MOST} % of a core", met))
        servers.stop(target.kind)
    return found


def scale(servers, seconds):
    """A request costs the same among many services, and beside many open connections."""
    target = L7[0]
    few = cost(servers, target, seconds)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(IDLE_WANTED, (files - IDLE_RESERVE) // 2)
    with Idle(target.port, count):
        beside = cost(servers, target, seconds)
    servers.stop(target.kind)
    path = os.path.join(servers.folder, "bascule-l7.toml")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text + many_services())
    try:
        many = cost(servers, target, seconds)
    finally:
        servers.stop(target.kind)
        with open(path, "w") as file:
            file.write(text)
    goal = "flat"
    return [
        (f"CPU of a request: {MANY_SERVICES} services in 1000 vservers / 2 services", f"{many / few:.2f} ×", goal, flat(many / few)),
        (f"CPU of a request: beside {count} idle connections / alone", f"{beside / few:.2f} ×", goal, flat(beside / few)),
    ]


def flat(ratio):
    return "met" if ratio <= 1.1 else f"missed by {(ratio - 1) * 100:.0f} %"


def cost(servers, target, seconds):
    process = servers.get(target.kind)
    cookie = duties.persists(target.name, target.port)
    samples = []
    for _ in range(5):
        begun = process.cpu_ns()
        units = load.wrk(url(target, "/small"), seconds, 64, cookie)
        samples.append((process.cpu_ns() - begun) / units)
    return median(samples)


def many_services():
    """Ten services in each of a thousand vservers without an address of their own."""
    lines = []
    for vserver in range(MANY_SERVICES // 10):
        names = [f"s{vserver}-{at}" for at in range(10)]
        for name in names:
            lines.append(f'[service.{name}]\naddress = "127.0.0.1:21000"\nhealth_monitor = false')
        quoted = ", ".join(f'"{name}"' for name in names)
        lines.append(f'[vserver.many{vserver}]\ntype = "HTTP"\nservices = [{quoted}]')
    return "\n" + "\n".join(lines) + "\n"


def start(servers, _seconds):
    """From the start of the process to the ready file, and what it holds then."""
    times, memory = [], 0
    command = servers.bascule("start", "bascule-l7.toml")
    ready = os.path.join(servers.folder, "ready.json")
    servers.stop("bascule-l7")
    for _ in range(5):
        process = Process("start", SERVER_CORE, [*command, "--ready-file", ready], servers.folder)
        process.wait_for_file(ready)
        times.append(time.monotonic() - process.started)
        memory = process.resident_bytes()
        process.stop()
    taken, held = median(times) * 1000, memory / (1 << 20)
    return [
        ("from `run` to ready", f"{taken:.0f} ms", "< 200 ms", "met" if taken < 200 else "missed"),
        ("resident, idle", f"{held:.0f} MiB", "< 40 MiB", "met" if held < 40 else "missed"),
    ]


FACTS = (idle, scale, start, failover)
