#!/usr/bin/env python3
"""Measures Bascule against its peers in one run, and writes the tables of benches/README.md.

Started by scripts/bench, which builds what is measured. The server runs on core 0; load and the servers behind on core 1."""

import argparse
import os
import sys
import tempfile
import time

from harness import admin, checks, dns, extra, machine, measure, rows, table
from harness.servers import Servers

# Figures that are not ratios to a peer, by area.
FACTS = {"l4": (), "l7": extra.FACTS, "dns": dns.FACTS, "checks": checks.FACTS, "admin": admin.FACTS}
HERE = os.path.dirname(os.path.abspath(__file__))


def name_of(fact):
    return fact.__name__.replace("_", "-")


def options():
    parser = argparse.ArgumentParser(prog="scripts/bench l4|l7|dns|checks|admin", description=__doc__)
    ids = [row.id for row in rows.ROWS] + [name_of(fact) for facts in FACTS.values() for fact in facts]
    parser.add_argument("areas", nargs="+", choices=tuple(FACTS))
    parser.add_argument("--binary", required=True, help="bascule, as built for release")
    parser.add_argument("--tools", required=True, help="the folder of the compiled load generators")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=2, help="of load for each target and round")
    parser.add_argument("--only", action="append", choices=ids, metavar="ROW", help=f"one of {', '.join(ids)}")
    parser.add_argument("--no-write", action="store_true", help="print only")
    return parser.parse_args()


def main():
    asked = options()
    binary, tools = os.path.abspath(asked.binary), os.path.abspath(asked.tools)
    begun = machine.others()
    machine.raise_open_files(extra.FILES_WANTED)
    with tempfile.TemporaryDirectory(prefix="bascule-bench-") as folder, Servers(folder, binary, tools, asked.areas) as servers:
        for area in asked.areas:
            report(asked, area, run(asked, area, servers), begun)


def run(asked, area, servers):
    def wanted(name):
        return not asked.only or name in asked.only

    def say(line):
        print(line, file=sys.stderr, flush=True)

    chosen = [row for row in rows.ROWS if row.area == area and wanted(row.id)]
    results = [measure.measure(servers, row, asked.rounds, asked.seconds, say) for row in chosen]
    found = []
    for fact in FACTS[area]:
        if wanted(name_of(fact)):
            found += fact(servers, asked.seconds)
    return results, found


def report(asked, area, measured, begun):
    results, found = measured
    lines = []
    if results:
        lines += table.ratios(results)
    if found:
        lines += [""] * bool(lines) + table.facts(found)
    if not lines:
        return
    when = time.strftime("%-d %B %Y", time.gmtime())
    rounds = f", {asked.rounds} rounds of {asked.seconds} s" if results or area == "l7" else ""
    lines += ["", f"{when}{rounds}; beside it at the start: {begun}."]
    print("\n".join(lines))
    if not asked.no_write and not asked.only:
        table.write(os.path.join(HERE, "README.md"), area, lines)


if __name__ == "__main__":
    try:
        main()
    except (machine.Failed, machine.Missing) as error:
        sys.exit(f"scripts/bench: {error}")
