"""Tools for DNS against a running Bascule. It and they have a network of their own, so that it can stand at port 53 of
addresses that look like anybody's: tools complain of loopback."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time

from stage import Result

SERVERS = ("5.5.5.1", "5.5.5.2")
ZONES = ("signed.test", "plain.test")
CONFIG = """
[dns]
listen = ["5.5.5.1:53", "5.5.5.2:53"]
nsid = "conformance"
ecs = {}
[admin]
listen = "127.0.0.1:9080"
[switch.s]
[scenario.dr.activate]
when = [["sw:s"]]
"""
ZONE = """
[zone."{zone}"]
ttl = "300s"
soa = {{ mname = "ns1", rname = "hostmaster", serial = 2026010100, refresh = "4h", retry = "1h", expire = "14d", minimum = "5m" }}
transfer = {{ allow = ["5.5.5.0/24"] }}
{dnssec}
static = '''
@      NS    ns1
@      NS    ns2
ns1    A     5.5.5.1
ns2    A     5.5.5.2
@      MX    10 mail
mail   A     5.5.5.1
*.w    TXT   "a wildcard"
alias  CNAME www
old    DNAME w
sub    NS    ns.sub
ns.sub A     5.5.5.3
many   TXT   "{long}" "1"
many   TXT   "{long}" "2"
many   TXT   "{long}" "3"
many   TXT   "{long}" "4"
many   TXT   "{long}" "5"
many   TXT   "{long}" "6"
'''
[zone."{zone}".rrset."www A"]
records = [{{ data = "192.0.2.10" }}, {{ data = "192.0.2.11" }}, {{ data = "198.51.100.10", drCond = "dr" }}]
select = {{ method = "weighted", answers = 1 }}
"""
PATIENCE_S = 120
# What a tool says beyond "agreed", by its own word for it: why it is so.
KNOWN = {
    "NO_RESPONSE_PTR_QUERY": "nobody serves the reverse zone here",
    "DNSKEY_BUT_NOT_DS": "there is no parent here, and so no DS",
}


async def run(binary, folder):
    """The suites by name; `None`: the tool is not installed."""
    command = ["unshare", "--map-root-user", "--net", sys.executable, os.path.abspath(__file__), binary, folder]
    process = await asyncio.create_subprocess_exec(*command)
    if await process.wait():
        raise SystemExit("the tools of the DNS need a network of their own: `unshare --map-root-user --net`, and `ip`")
    with open(os.path.join(folder, "results.json")) as file:
        found = json.load(file)
    return {name: rows and [result(*row) for row in rows] for name, rows in found.items()}


def result(name, expected, seen, good):
    why = next((why for word, why in KNOWN.items() if word in name), None)
    return Result(name, expected, seen, "agreed" if good else "differs", why)


def tool(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return 1, f"no end within {PATIENCE_S} s"
    return done.returncode, done.stdout + done.stderr


# ── Inside the network of its own ──


def inside(binary, folder):
    ip("link", "set", "lo", "up")
    for address in SERVERS:
        ip("address", "add", f"{address}/32", "dev", "lo")
    os.chdir(folder)
    key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "zone.pem"]
    subprocess.run(key, check=True, capture_output=True)
    text = CONFIG
    for zone in ZONES:
        dnssec = 'dnssec = { keys = ["zone.pem"] }' if zone == "signed.test" else ""
        text += ZONE.format(zone=zone, dnssec=dnssec, long="x" * 240)
    with open("box.toml", "w") as file:
        file.write(text)
    with open("log", "wb") as log:
        command = [binary, "run", "--config", "box.toml", "--ephemeral", "--ready-file", "ready.json"]
        box = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        while not os.path.exists("ready.json"):
            if box.poll() is not None:
                sys.exit(open("log").read())
            time.sleep(0.02)
        results = {name: suite() if shutil.which(name) else None for name, suite in SUITES.items()}
    finally:
        box.terminate()
        box.wait()
    with open("results.json", "w") as file:
        json.dump(results, file)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def case(name, expected, seen, good):
    return [name, expected, " ".join(seen.split())[-300:], bool(good)]


def queries(program):
    """What the program prints where an answer pleases it; it complains in lines of its own."""
    table = [
        ("www.plain.test A", "NOERROR", "192.0.2.1"),
        ("www.plain.test A +tcp", "NOERROR", "192.0.2.1"),
        ("www.signed.test A +dnssec", "NOERROR", "RRSIG"),
        ("nothing.signed.test A +dnssec", "NXDOMAIN", "NSEC"),
        ("x.w.signed.test TXT +dnssec", "NOERROR", "a wildcard"),
        ("x.old.signed.test TXT", "NOERROR", "a wildcard"),
        ("host.sub.plain.test A", "NOERROR", "ns.sub.plain.test."),
        ("many.plain.test TXT", "NOERROR", "xxxx"),
        ("many.plain.test TXT +bufsize=512 +ignore", "NOERROR", " tc;"),
        ("plain.test SOA +nsid", "NOERROR", "conformance"),
        ("plain.test SOA +subnet=192.0.2.0/24", "NOERROR", "192.0.2.0/24"),
        ("plain.test SOA +noedns", "NOERROR", "hostmaster.plain.test."),
        ("plain.test TYPE65534", "NOERROR", "SOA"),
        ("plain.test ANY", "NOERROR", "NS"),
        ("example.org A", "REFUSED", ""),
        ("plain.test AXFR", "", "192.0.2.11"),
    ]
    if program == "dig":
        table += [
            ("plain.test SOA +cookie", "NOERROR", "(good)"),
            ("plain.test SOA +edns=1 +noednsnegotiation", "BADVERS", ""),
            ("plain.test SOA +ednsopt=100:0707", "NOERROR", "hostmaster.plain.test."),
            ("plain.test SOA +ednsflags=0x40", "NOERROR", "hostmaster.plain.test."),
            ("plain.test SOA +opcode=STATUS +noedns", "NOTIMP", ""),
            ("plain.test SOA +header-only +cookie", "NOERROR", "(good)"),
        ]
    for words, status, holds in table:
        _, said = tool(program, "@5.5.5.1", "+norec", *words.split())
        # That it asks again over TCP is no complaint.
        complaint = re.search(r"(?i)warning(?!: truncated reply)|malformed|mismatch|trailing|bad packet|unexpected", said)
        good = not complaint and (f"status: {status}" in said or not status) and holds in said
        yield case(words, f"{status} {holds}".strip(), said if not good else "the same", good)


def dig():
    return list(queries("dig"))


def kdig():
    return [row for row in queries("kdig") if "+ignore" not in row[0] and "AXFR" not in row[0]]


def anchors():
    """The DS of the signed zone, as dig finds them."""
    _, keys = tool("dig", "@5.5.5.1", "+short", "signed.test", "DNSKEY")
    flags, protocol, algorithm, key = keys.split(maxsplit=3)
    with open("anchors", "w") as file:
        file.write(f'trust-anchors {{ signed.test. static-key {flags} {protocol} {algorithm} "{"".join(key.split())}"; }};\n')


def delv():
    anchors()
    rows = []
    for name, rtype in [("signed.test", "SOA"), ("www.signed.test", "A"), ("alias.signed.test", "A"), ("x.w.signed.test", "TXT")]:
        _, said = tool("delv", "@5.5.5.1", "-a", "anchors", "+root=signed.test", name, rtype)
        rows.append(case(f"{name} {rtype}", "fully validated", said, "; fully validated" in said))
    for name, rtype in [("nothing.signed.test", "A"), ("www.signed.test", "MX"), ("a.b.c.signed.test", "A")]:
        _, said = tool("delv", "@5.5.5.1", "-a", "anchors", "+root=signed.test", name, rtype)
        rows.append(case(f"{name} {rtype}", "negative response, fully validated", said, "negative response, fully validated" in said))
    return rows


def dnsperf():
    with open("questions", "w") as file:
        file.write("www.plain.test A\nwww.signed.test A\nnothing.signed.test A\nx.w.plain.test TXT\nplain.test MX\n")
    rows = []
    for options in (["-e"], ["-D"], ["-m", "tcp", "-D"]):
        _, said = tool("dnsperf", "-s", SERVERS[0], "-d", "questions", "-l", "2", *options)
        lost = re.search(r"Queries lost:\s+(\d+)", said)
        completed = re.search(r"Queries completed:\s+(\d+)", said)
        good = lost and lost[1] == "0" and completed and int(completed[1]) > 100 and "Warning" not in said
        rows.append(case(" ".join(["2 s", *options]), "nothing lost, no warning", said if not good else "the same", good))
    return rows


def ldns():
    _, zone = tool("dig", "@5.5.5.1", "+onesoa", "+nocomments", "+nocmd", "+nostats", "signed.test", "AXFR")
    with open("zone", "w") as file:
        file.write(zone)
    code, said = tool("ldns-verify-zone", "-V", "2", "zone")
    return [case("the zone as it is transferred", "verified", said, code == 0)]


def zonemaster():
    rows = []
    for zone in ZONES:
        servers = [f"--ns=ns{at}.{zone}/{address}" for at, address in enumerate(SERVERS, 1)]
        _, said = tool("zonemaster-cli", *servers, "--no-ipv6", "--level=WARNING", "--json", "--no-time", zone)
        messages = json.loads(said[said.find("[") :] or "null") if said.startswith("[") else None
        rows.append(case(f"{zone}: it comes to its end", "results", said if messages is None else "results", messages is not None))
        for tag in sorted({message["tag"] for message in messages or []}):
            first = next(message for message in messages if message["tag"] == tag)
            rows.append(case(f"{zone}: {tag}", "nothing to say", json.dumps(first["args"]), False))
    return rows


def dnsviz():
    # It looks for a way to the world before it asks anybody. Other tools would wait for answers from there.
    ip("route", "add", "default", "dev", "lo", "src", SERVERS[0])
    rows = []
    for zone in ZONES:
        servers = f"{zone}+:ns1.{zone}={SERVERS[0]},ns2.{zone}={SERVERS[1]}"
        tool("dnsviz", "probe", "-4", "-A", "-a", zone, "-x", servers, "-o", "probe.json", zone)
        # Without a key to trust: the package of Debian 12 cannot be given one.
        code, said = tool("dnsviz", "grok", "-l", "info", "-r", "probe.json")
        whole = code == 0 and ("VALID" in said or zone == "plain.test")
        rows.append(case(f"{zone}: it comes to its end", "results", said if not whole else "results", whole))
        found = sorted(set(re.findall(r'"code": "([A-Z_0-9]+)"', said)) | set(re.findall(r'"status": "(INVALID|BOGUS|EXPIRED)', said)))
        rows += [case(f"{zone}: {code}", "nothing to say", said, False) for code in found]
    return rows


SUITES = {
    "dig": dig,
    "kdig": kdig,
    "delv": delv,
    "dnsperf": dnsperf,
    "ldns-verify-zone": ldns,
    "zonemaster-cli": zonemaster,
    "dnsviz": dnsviz,
}

if __name__ == "__main__":
    inside(*sys.argv[1:])
