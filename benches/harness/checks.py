"""Many health checks: what they cost, whether they keep their times, and how long their configuration takes to load."""

import os
import subprocess
import time
import urllib.request
from statistics import median

from .machine import SERVER_CORE, Failed, Process, on_core

CHECKS = 10_000
RECORDS = 100_000
STEERED = 10_000
ZONES = 20
# The first round is over, and what it took to begin.
SETTLED_SECONDS = 10
WATCHED_SECONDS = 20
# p99 of how late a probe begins, and loading: seconds.
LATE_MOST = 0.05
LOAD_MOST = 2.0
ADMIN = "127.0.0.1:21300"
BACKEND_PORT = 21310
KINDS = {
    "TCP": 'type = "TCP"\naddress = "{address}"',
    "HTTP": 'type = "HTTP"\nurl = "http://{address}/health"\nexpect = {{ status = ["200"], body_contains = "ok" }}',
}


def checks(servers, _seconds):
    """Every check has a target of its own: an address of loopback, so that ports are not what is measured."""
    found = []
    for kind in KINDS:
        path = os.path.join(servers.folder, "many-checks.toml")
        with open(path, "w") as file:
            file.write(configuration(kind))
        found += watched(servers, kind, path)
    return found + loading(servers)


def configuration(kind):
    lines = [
        f'schema = 1\n[appliance]\nname = "bench"\n[admin]\nlisten = "{ADMIN}"',
        '[defaults.check]\ninterval = "1s"\ntimeout = "900ms"\nrise = 1\nfall = 3',
    ]
    for at in range(CHECKS):
        lines.append(f"[check.c{at}]\n" + KINDS[kind].format(address=f"{address(at)}:{BACKEND_PORT}"))
    return "\n".join(lines) + "\n"


def address(at):
    return f"127.{1 + at // 62500}.{at // 250 % 250}.{1 + at % 250}"


def watched(servers, kind, path):
    ready = os.path.join(servers.folder, "many.ready")
    command = [servers.binary, "run", "--config", path, "--ephemeral", "--ready-file", ready]
    process = Process("many-checks", SERVER_CORE, command, servers.folder)
    try:
        process.wait_for_file(ready)
        time.sleep(SETTLED_SECONDS)
        before = metrics()
        begun, since = process.cpu_ns(), time.monotonic()
        time.sleep(WATCHED_SECONDS)
        cpu, seconds = process.cpu_ns() - begun, time.monotonic() - since
        after = metrics()
        memory = process.resident_bytes() / (1 << 20)
    finally:
        process.stop()
    moved = {name: value - before.get(name, 0) for name, value in after.items()}
    failed, dropped = total(moved, "bascule_check_failed_samples_total"), moved["bascule_probe_late_samples_total"]
    if failed or after['bascule_check_up'] != CHECKS:
        raise Failed(f"{failed:.0f} samples failed, {after['bascule_check_up']:.0f} of {CHECKS} checks are up:\n{process.last_words()}")
    samples = moved["bascule_probe_lateness_seconds_count"]
    late = quantile(moved, 0.99)
    what = f"{CHECKS} {kind} checks every second"
    met = "met" if late <= LATE_MOST else "missed"
    return [
        (f"{what}: 99 % of probes begin within", f"{late * 1000:g} ms", f"< {LATE_MOST * 1000:.0f} ms", met),
        (f"{what}: within", f"{quantile(moved, 0.5) * 1000:g} ms half of them, {quantile(moved, 0.999) * 1000:g} ms 99.9 %", "", ""),
        (f"{what}: samples a second, dropped as late", f"{samples / seconds:.0f}, {dropped:.0f}", f"{CHECKS}, 0", ""),
        (f"{what}: CPU", f"{cpu / seconds / 1e7:.0f} % of a core, {cpu / samples / 1000:.0f} µs a probe", "", ""),
        (f"{what}: resident", f"{memory:.0f} MiB", "", ""),
    ]


def metrics():
    """By name with its labels; the checks that are up together."""
    with urllib.request.urlopen(f"http://{ADMIN}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    found = {name: float(value) for name, value in found.items()}
    up = [value for name, value in found.items() if name.startswith("bascule_check_state") and 'state="up"' in name]
    found["bascule_check_up"] = sum(up)
    return found


def total(found, family):
    return sum(value for name, value in found.items() if name.startswith(family + "{"))


def quantile(moved, share):
    """The bound of the bucket that it lies in."""
    prefix = 'bascule_probe_lateness_seconds_bucket{le="'
    buckets = sorted(
        (float(name[len(prefix) : -2]), count) for name, count in moved.items() if name.startswith(prefix)
    )
    wanted = buckets[-1][1] * share
    return next(bound for bound, count in buckets if count >= wanted)


def loading(servers):
    path = os.path.join(servers.folder, "large.toml")
    with open(path, "w") as file:
        file.write(configuration("HTTP") + zones())
    times = []
    for _ in range(5):
        begun = time.monotonic()
        done = subprocess.run(
            on_core(SERVER_CORE, [servers.binary, "check", path]), cwd=servers.folder, capture_output=True, text=True
        )
        times.append(time.monotonic() - begun)
        if done.returncode != 0:
            raise Failed(f"the large configuration is refused: {(done.stdout + done.stderr)[:500]}")
    taken = median(times)
    what = f"{RECORDS} records ({STEERED} of them steered) and {CHECKS} checks load"
    return [(what, f"{taken:.2f} s", f"< {LOAD_MOST:.0f} s", "met" if taken < LOAD_MOST else "missed")]


def zones():
    """Every steered record has a check of its own."""
    lines = ["[dns]", 'listen = ["127.0.0.1:21353"]']
    for zone in range(ZONES):
        fixed = (RECORDS - STEERED) // ZONES - 2
        static = [f"h{at} A 192.0.2.{at % 250 + 1}" for at in range(fixed)]
        lines += [f'[zone."z{zone}.test"]', 'ttl = "30s"', 'soa = { mname = "ns1", rname = "hostmaster" }']
        lines += ['static = """', "@ NS ns1", "ns1 A 192.0.2.1", *static, '"""']
        for at in range(STEERED // ZONES // 2):
            check = (zone * (STEERED // ZONES // 2) + at) * 2
            lines += [
                f'[zone."z{zone}.test".rrset."s{at} A"]',
                f'records = [{{ data = "192.0.2.10", check = "c{check}" }}, {{ data = "192.0.2.11", check = "c{check + 1}" }}]',
            ]
    return "\n".join(lines) + "\n"


FACTS = (checks,)
