"""The management: how long reads of REST wait beside saturated traffic, and what ten thousand services cost it."""

import http.client
import json
import os
import threading
import time
from statistics import median

from . import duties, extra
from .browser import Browser
from .load import run
from .machine import Failed, Missing, Process
from .rows import CLIENTS, L7, url

ADMIN_PORT = 21092
BOTH_CORES = "0,1"
READS_PER_SECOND = 50
READ_SECONDS = 10
# Of the load before the first read.
WARM_SECONDS = 1
# Milliseconds.
READ_MOST = 50
LIST_MOST = 200
USABLE_MOST = 500
FILTER_MOST = 100
REPEATS = 9
READS = ("/api/v1/services", "/api/v1/services/a", "/api/v1/status")
# What the dashboard asks for as its pages begin (src/admin/dashboard): to be timed where no browser is at hand.
OVERVIEW = (
    "/whoami", "/status", "/zones", "/datacenter-pairs", "/scenarios?limit=500", "/vservers?limit=100",
    "/outbox?status=dead&limit=50",
)
SERVICES = ("/status", "/services?limit=100", "/services?limit=100&state=DOWN%2CTROFS_DOWN%2CUNKNOWN%2CTROFS%2COFS")


class Asker:
    """One connection to the management that is kept."""

    def __init__(self):
        self.client = http.client.HTTPConnection("127.0.0.1", ADMIN_PORT, timeout=30)

    def ask(self, path, method="GET", body=None):
        """Milliseconds until the whole answer is there, and the answer."""
        begun = time.perf_counter()
        self.client.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = self.client.getresponse()
        text = answer.read()
        taken = (time.perf_counter() - begun) * 1000
        if answer.status != 200:
            raise Failed(f"{path} was answered with {answer.status}: {text[:300]!r}")
        return taken, text


def quantile(taken, share):
    return sorted(taken)[min(len(taken) - 1, int(len(taken) * share))]


def reads(seconds):
    """Each read begins at its time, whatever the one before took: one that waits is not left out by those after it."""
    asker, taken = Asker(), []
    begun = time.perf_counter()
    for at in range(int(seconds * READS_PER_SECOND)):
        due = begun + at / READS_PER_SECOND
        pause = due - time.perf_counter()
        if pause > 0:
            time.sleep(pause)
        asker.ask(READS[at % len(READS)])
        taken.append((time.perf_counter() - due) * 1000)
    return taken


def told(taken):
    return f"p99 {quantile(taken, 0.99):.1f} ms (half {quantile(taken, 0.5):.1f} ms, longest {max(taken):.1f} ms)"


def under(command, seconds):
    """The reads while a load runs; what the load said."""
    said = []
    load = threading.Thread(target=lambda: said.append(run(command, seconds, BOTH_CORES)))
    load.start()
    time.sleep(WARM_SECONDS)
    taken = reads(seconds - 2 * WARM_SECONDS)
    load.join()
    if not said or "Socket errors" in said[0] or "Non-2xx" in said[0]:
        raise Failed(f"the load beside the reads had errors: {said}")
    return taken


def reads_beside_traffic(servers, _seconds):
    """Bascule and the load have both cores, so that both are busy and the reads have to wait for their turn."""
    target = L7[0]
    found = []
    kinds = (
        ("HTTP, keep-alive, small", "/small", ()),
        ("HTTP, new connection", "/small", ("-H", "Connection: close")),
        ("HTTP, 1 MiB", "/big", ()),
    )
    with Appliance(servers, "bascule-l7.toml") as appliance:
        duties.served(target.name, target.port)
        found.append((f"{READS_PER_SECOND} reads a second alone", told(reads(READ_SECONDS)), "", ""))
        for what, path, headers in kinds:
            seconds = READ_SECONDS + 2 * WARM_SECONDS
            command = ["wrk", "-t2", f"-c{2 * CLIENTS}", f"-d{seconds}s", "--timeout", "10s", *headers, url(target, path)]
            begun, since = appliance.cpu_ns(), time.monotonic()
            busy = idle_ticks()
            taken = under(command, seconds)
            spent = time.monotonic() - since
            own, idle = (appliance.cpu_ns() - begun) / spent / 1e7, (idle_ticks() - busy) / spent
            met = "met" if quantile(taken, 0.99) < READ_MOST else "missed"
            found.append((
                f"{READS_PER_SECOND} reads a second beside saturated traffic ({what}; Bascule takes {own:.0f} % of a core,"
                f" {idle:.0f} % of one is idle)", told(taken), f"p99 < {READ_MOST} ms", met,
            ))
    return found


def idle_ticks():
    """Hundredths of a second that all cores were idle, so far."""
    with open("/proc/stat") as stat:
        return int(stat.readline().split()[4])


class Appliance:
    """Bascule on both cores, with a configuration of the folder; ends with the `with` block."""

    def __init__(self, servers, file):
        servers.stop("bascule-l7")
        ready = os.path.join(servers.folder, "admin.ready")
        command = [*servers.bascule("admin", file), "--ready-file", ready]
        self.process = Process("admin", BOTH_CORES, command, servers.folder)
        self.process.wait_for_file(ready)

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.stop()


def many_services(servers, _seconds):
    """Ten thousand services in a thousand vservers; then a tenth of them out of service, for what is wrong is shown."""
    path = os.path.join(servers.folder, "many-services.toml")
    with open(os.path.join(servers.folder, "bascule-l7.toml")) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text + extra.many_services())
    count = extra.MANY_SERVICES
    with Appliance(servers, path) as process:
        asker = Asker()
        found = [
            timed(asker, f"{count} services: the whole list of services", ("/services?limit=50000",), LIST_MOST),
            timed(asker, f"{count} services: in pages of 1000", None, None, pages=True),
            timed(asker, f"{count} services: the whole list of vservers", ("/vservers?limit=50000",), None),
            timed(asker, f"{count} services: one of them", ("/services/s500-5",), None),
            timed(asker, f"{count} services: status", ("/status",), None),
            timed(asker, f"{count} services: what the overview asks for as it begins", OVERVIEW, None),
            timed(asker, f"{count} services: what the page of services asks for", SERVICES, None),
        ]
        found += looked_at(f"{count} services")
        for at in range(count // 10):
            asker.ask(f"/api/v1/services/s{at}-0/disable", "POST", '{"reason": "bench"}')
        found += [
            timed(asker, f"{count // 10} of {count} out of service: status", ("/status",), None),
            timed(asker, f"{count // 10} of {count} out of service: what the page of services asks for", SERVICES, None),
        ]
        found += looked_at(f"{count // 10} of {count} out of service")
        found.append((f"{count} services: resident after all this", f"{process.resident_bytes() / (1 << 20):.0f} MiB", "", ""))
    return found


def timed(asker, what, paths, goal, pages=False):
    """One after the other; the median of some rounds."""
    taken, size, packed = [], 0, 0
    for _ in range(REPEATS):
        answers = list(walk(asker)) if pages else [asker.ask(f"/api/v1{path}") for path in paths]
        taken.append(sum(answer[0] for answer in answers))
        size, packed = sum(len(answer[1]) for answer in answers), len(answers)
    answers = f"{packed} answers, " if packed > 1 else ""
    figure = f"{median(taken):.1f} ms (longest {max(taken):.1f}), {answers}{size / 1024:.0f} KiB"
    met = "" if goal is None else "met" if median(taken) < goal else "missed"
    return what, figure, "" if goal is None else f"< {goal} ms", met


def walk(asker):
    path = "/api/v1/services?limit=1000"
    while path:
        answer = asker.ask(path)
        yield answer
        path = json.loads(answer[1]).get("next")


def looked_at(what):
    """The dashboard in a headless browser, where there is one."""
    try:
        browser = Browser()
    except Missing as error:
        return [(f"{what}: the dashboard", f"not measured: {error}", "", "")]
    base = f"http://127.0.0.1:{ADMIN_PORT}/"
    rows = "document.querySelectorAll('main [data-kind=service]').length"
    with browser:
        overview, shown, filtered = [], [], []
        for _ in range(3):
            browser.go("about:blank")
            overview.append(browser.opened(f"{base}#/", "document.querySelector('main h1#v')"))
            browser.go("about:blank")
            shown.append(browser.opened(f"{base}#/services", f"{rows} >= 100"))
            filtered.append(browser.timed(
                "const f = document.getElementById('fq'); f.focus(); f.value = 's77-'; "
                "f.dispatchEvent(new Event('input', { bubbles: true }));",
                f"{rows} == 10",
            ))
        asked = browser.run(
            "return performance.getEntriesByType('resource').filter(e => e.name.includes('/api/v1/') && e.responseEnd)"
            ".map(e => [e.name.split('/api/v1')[1], Math.round(e.duration), e.transferSize])"
        )
        files = browser.run(
            "return performance.getEntriesByType('resource').filter(e => !e.name.includes('/api/v1/'))"
            ".reduce((all, e) => all + e.decodedBodySize, 0)"
        )
        heap = browser.run("return performance.memory ? performance.memory.usedJSHeapSize : 0")
    slowest = max(asked, key=lambda entry: entry[1], default=["nothing", 0, 0])
    return [
        (f"{what}: the overview is painted after", f"{median(overview):.0f} ms", "", ""),
        (
            f"{what}: the page of services is painted after", f"{median(shown):.0f} ms; slowest answer {slowest[1]} ms,"
            f" {slowest[2] / 1024:.0f} KiB ({slowest[0].split('?')[0]}); files {files / 1024:.0f} KiB, heap"
            f" {heap / (1 << 20):.0f} MiB", f"< {USABLE_MOST} ms", "met" if median(shown) < USABLE_MOST else "missed",
        ),
        (
            f"{what}: filtered by name after", f"{median(filtered):.0f} ms", f"< {FILTER_MOST} ms",
            "met" if median(filtered) < FILTER_MOST else "missed",
        ),
    ]


FACTS = (reads_beside_traffic, many_services)
