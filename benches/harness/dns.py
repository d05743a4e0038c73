"""The DNS service beside name servers and a bare reflector: zones, questions, rows."""

import http.client
import json
import os
import random
import re
import socket
import struct
import subprocess
import threading
import time
from statistics import median

from . import load
from .machine import LOAD_CORE, Failed
from .targets import Row, Target

STATIC = 1_000
STEERED = 10
FLIPS_PER_SECOND = 10
FLIP_ROUNDS = 7
SEED = 8906

BASCULE = Target("Bascule", "bascule-dns", 21053)
GDNSD, KNOT, NSD = Target("gdnsd", "gdnsd", 21153), Target("Knot", "knot", 21154), Target("NSD", "nsd", 21155)
PDNS, LUA = Target("PowerDNS", "pdns", 21156), Target("PowerDNS, Lua records", "pdns-lua", 21157)
REFLECTOR = Target("a bare reflector", "reflector", 21158)
ADMIN = 21095

SOA = "@ SOA ns1 hostmaster 1 3600 600 86400 30\n"
HEAD = "@ NS ns1\nns1 A 192.0.2.1\n"


def hosts():
    return HEAD + "".join(f"h{i} A 10.0.{i >> 8}.{i & 255}\n" for i in range(STATIC))


def steered(line):
    return "".join(line.format(i=i) for i in range(STEERED))


def prepare(folder):
    """Writes the zones as each server reads them, and the questions."""

    def write(name, text, mode="w"):
        with open(os.path.join(folder, name), mode) as file:
            file.write(text)

    for name in ("knot-db", "pdns-lua", "gdnsd/zones", "gdnsd/run"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    begin = "$TTL 30\n"
    fixed = begin + "$ORIGIN example.test.\n" + SOA + hosts()
    write("example.zone", fixed + steered("www{i} A 192.0.2.1{i}\n"))
    write("lua.zone", fixed + steered("www{i} LUA A \"pickwrandom({{{{3,'192.0.2.1{i}'}},{{1,'192.0.2.2{i}'}}}})\"\n"))
    write("gdnsd/zones/example.test", begin + SOA + hosts() + steered("www{i} 30 DYNA weighted!www{i}\n"))
    resource = steered("www{i} => {{ a => [ 192.0.2.1{i}, 3 ], b => [ 192.0.2.2{i}, 1 ] }}\n")
    plugin = f"plugins => {{ weighted => {{\nservice_types => up\n{resource}}} }}\n"
    with open(os.path.join(folder, "gdnsd.conf")) as conf:
        write("gdnsd/config", conf.read().replace("FOLDER", folder) + plugin)
    write("hosts.zone", hosts())
    write("bascule-dns.toml", bascule(), "a")
    key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "zone.pem"]
    subprocess.run(key, cwd=folder, check=True, capture_output=True)
    chance = random.Random(SEED)
    questions = {
        "static": [f"h{chance.randrange(STATIC)}.example.test" for _ in range(5_000)],
        "steered": [f"www{chance.randrange(STEERED)}.example.test" for _ in range(5_000)],
        "none": [f"n{chance.randrange(1 << 30)}.example.test" for _ in range(5_000)],
        "signed": [f"h{chance.randrange(STATIC)}.signed.test" for _ in range(5_000)],
        "denied": [f"n{chance.randrange(1 << 30)}.signed.test" for _ in range(5_000)],
    }
    for name, names in questions.items():
        write(f"{name}.questions", "".join(f"{owner} A\n" for owner in names))


def bascule():
    """Ten names, each steered by a scenario that a switch moves."""
    soa = 'soa = { mname = "ns1", rname = "hostmaster", serial = 1, refresh = "1h", retry = "10m", expire = "1d", minimum = "30s" }'
    zone = f'ttl = "30s"\nfile = "hosts.zone"\n{soa}\n'
    text = f'\n[zone."example.test"]\n{zone}\n[zone."signed.test"]\n{zone}'
    text += 'dnssec = { keys = ["zone.pem"] }\ntransfer = { allow = ["127.0.0.1"] }\n'
    for i in range(STEERED):
        text += f"[switch.s{i}]\n[scenario.out{i}]\noscillation = {{ commits = 0, within = \"1h\" }}\n"
        text += f"[scenario.out{i}.activate]\nwhen = [[\"sw:s{i}\"]]\n[scenario.out{i}.deactivate]\nwhen = [[\"sw:s{i}!\"]]\n"
        records = f'{{ data = "192.0.2.1{i}", weight = 3 }}, {{ data = "192.0.2.2{i}" }}, {{ data = "198.51.100.{i}", drCond = "out{i}" }}'
        text += f'[zone."example.test".rrset."www{i} A"]\nrecords = [{records}]\nselect = {{ method = "weighted", answers = 1 }}\n'
    return text


# ── Duties ──


def ask(target, name, tries=20):
    """Flags, counts of answers and authorities, and the last four bytes of the answer (an address, without EDNS)."""
    query = struct.pack(">6H", 7, 0, 1, 0, 0, 0)
    query += b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.25)
        client.connect(("127.0.0.1", target.port))
        for _ in range(tries):
            try:
                client.send(query)
                answer = client.recv(4096)
            except OSError:
                time.sleep(0.05)
                continue
            _, flags, _, answers, authorities, _ = struct.unpack(">6H", answer[:12])
            return flags, answers, authorities, socket.inet_ntoa(answer[-4:])
    raise Failed(f"{target.name} does not answer for {name}")


def serves(servers, target):
    """The answers are those of the zone."""
    if target is BASCULE:
        # Before the others start, which read it then.
        transfer(servers.folder)
    if target is REFLECTOR:
        ask(target, "h0.example.test")
        return
    flags, answers, _, address = ask(target, "h258.example.test")
    if (flags & 0x840F, answers, address) != (0x8400, 1, "10.0.1.2"):
        raise Failed(f"{target.name} answered h258 with {flags:#x}, {answers} records, {address}")
    flags, answers, authorities, _ = ask(target, "nothing.example.test")
    if (flags & 0x840F, answers, authorities) != (0x8403, 0, 1):
        raise Failed(f"{target.name} answered a name that is not there with {flags:#x}, {answers}/{authorities}")
    _, answers, _, address = ask(target, "www3.example.test")
    if answers != 1 or address not in ("192.0.2.13", "192.0.2.23"):
        raise Failed(f"{target.name} answered www3 with {answers} records, {address}")


def signed(servers, target):
    """Every server has the zone as Bascule signed it."""
    serves(servers, target)
    if target is not REFLECTOR:
        flags, answers, *_ = ask(target, "h258.signed.test")
        if (flags & 0x840F, answers) != (0x8400, 1):
            raise Failed(f"{target.name} answered h258.signed.test with {flags:#x}, {answers} records")


def transfer(folder):
    if os.path.exists(os.path.join(folder, "signed.zone")):
        return
    command = ["dig", "@127.0.0.1", "-p", str(BASCULE.port), "+onesoa", "+noall", "+answer", "signed.test", "AXFR"]
    zone = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout
    if zone.count("RRSIG") < STATIC:
        raise Failed(f"the zone was not transferred: {zone[:500]}")
    with open(os.path.join(folder, "signed.zone"), "w") as file:
        file.write(zone)


# ── Load ──


def dnsperf(folder, target, questions, seconds, options=(), rcode="NOERROR"):
    command = ["dnsperf", "-s", "127.0.0.1", "-p", str(target.port), "-d", os.path.join(folder, f"{questions}.questions")]
    text = load.run([*command, "-l", str(seconds), "-c", "8", "-T", "1", "-q", "100", *options], seconds)
    done, lost = load.number(r"Queries completed:\s+(\d+)", text, "dnsperf"), load.number(r"Queries lost:\s+(\d+)", text, "dnsperf")
    if lost > done // 1_000 or (target is not REFLECTOR and not re.search(rf"Response codes:\s+{rcode} \d+ \(100", text)):
        raise Failed(f"{target.name} answered wrongly under load:\n{text}")
    return done


def questions(name, *options, rcode="NOERROR"):
    def work(servers, target, seconds, _):
        return dnsperf(servers.folder, target, name, seconds, options, rcode)

    return work


GOALS = {GDNSD.name: 1.0, KNOT.name: 0.95, NSD.name: 0.95, REFLECTOR.name: 1.1}
ALL = (BASCULE, GDNSD, KNOT, NSD, PDNS, REFLECTOR)
SIGNED = (BASCULE, KNOT, NSD)
ROWS = (
    Row("dns-static", "dns", "a name of 1000", "query", GOALS, ALL, serves, questions("static", "-e")),
    Row("dns-steered", "dns", "steered by scenarios, weighted", "query", GOALS, (*ALL[:4], LUA, REFLECTOR), serves, questions("steered", "-e")),
    Row("dns-none", "dns", "NXDOMAIN", "query", GOALS, ALL, serves, questions("none", "-e", rcode="NXDOMAIN")),
    Row("dns-signed", "dns", "signed", "query", GOALS, SIGNED, signed, questions("signed", "-D")),
    Row("dns-denied", "dns", "NXDOMAIN, signed", "query", GOALS, SIGNED, signed, questions("denied", "-D", rcode="NXDOMAIN")),
)


class Flips:
    """Turns one switch after the other, ten a second, as long as the block lasts."""

    def __init__(self):
        self.ended, self.count, self.error = threading.Event(), 0, None
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        if self.error:
            raise Failed(f"a switch was not taken: {self.error}")

    def run(self):
        client = http.client.HTTPConnection("127.0.0.1", ADMIN, timeout=5)
        begun = time.monotonic()
        while not self.ended.wait(max(0, begun + self.count / FLIPS_PER_SECOND - time.monotonic())):
            name, value = f"s{self.count % STEERED}", self.count // STEERED % 2 == 0
            try:
                client.request("PUT", f"/api/v1/switches/{name}", json.dumps({"value": value}), {"Content-Type": "application/json"})
                answer = client.getresponse()
                body = answer.read()
                if answer.status >= 300:
                    raise OSError(f"{answer.status} {body[:300]}")
            except (OSError, http.client.HTTPException) as error:
                self.error = error
                return
            self.count += 1


def flips(servers, seconds):
    """What ten flips a second cost beside the load; each round with and without."""
    process = servers.get(BASCULE.kind)
    serves(servers, BASCULE)
    os.sched_setaffinity(0, {int(LOAD_CORE)})

    def load_it():
        begun = process.cpu_ns()
        units = dnsperf(servers.folder, BASCULE, "steered", seconds, ("-e",))
        return process.cpu_ns() - begun, units

    ratios, each = [], []
    for _ in range(FLIP_ROUNDS):
        calm = load_it()
        with Flips() as moving:
            busy = load_it()
        calm_ns = calm[0] / calm[1]
        ratios.append(busy[0] / busy[1] / calm_ns)
        each.append((busy[0] - busy[1] * calm_ns) / moving.count)
    last, is_out = (moving.count - 1) % STEERED, (moving.count - 1) // STEERED % 2 == 0
    *_, address = ask(BASCULE, f"www{last}.example.test")
    if address.startswith("198.51.100.") != is_out:
        raise Failed(f"www{last} is answered with {address} after the last flip")
    change = (median(ratios) - 1) * 100
    what = f"CPU of a query while {FLIPS_PER_SECOND} scenarios flip a second / in calm"
    spread = f"{(min(ratios) - 1) * 100:+.1f} to {(max(ratios) - 1) * 100:+.1f} %"
    figure = f"{change:+.1f} % ({spread}), {median(each) / 1e6:.2f} ms a flip, its request included"
    return [(what, figure, "< 1 %", "met" if change < 1 else "missed")]


FACTS = (flips,)
