#!/usr/bin/env python3
"""Runs public suites against Bascule and says where it does otherwise. Started by scripts/conformance."""

import argparse
import asyncio
import collections
import os
import sys
import tempfile

import dns
import h2spec
import llhttp
import smuggler
from stage import Stage

# Refused where the suite accepts: no way to smuggle.
STRICTER = "stricter"
AGREED = "agreed"
DIFFERS = "differs"


def options():
    parser = argparse.ArgumentParser(prog="scripts/conformance", description=__doc__)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--h2spec", metavar="PROGRAM")
    parser.add_argument("--llhttp", metavar="FOLDER")
    parser.add_argument("--smuggler", metavar="FOLDER")
    parser.add_argument("--dns", action="store_true", help="the tools for DNS that are installed")
    parser.add_argument("--all", action="store_true", help="also list what agreed")
    asked = parser.parse_args()
    if not (asked.h2spec or asked.llhttp or asked.smuggler or asked.dns):
        parser.error("give --h2spec, --llhttp, --smuggler or --dns")
    return asked


async def suites(asked, stage):
    if asked.h2spec:
        for name, port, tls in (("h2spec, in the clear", stage.clear, False), ("h2spec, TLS", stage.tls, True)):
            yield name, await h2spec.run(os.path.abspath(asked.h2spec), port, tls, stage.folder)
    if asked.llhttp:
        yield "llhttp, requests", await llhttp.requests(asked.llhttp, stage)
        yield "llhttp, answers", await llhttp.answers(asked.llhttp, stage)
    if asked.smuggler:
        yield "smuggler", await smuggler.run(asked.smuggler, stage)


async def main():
    asked = options()
    unknown = False
    with tempfile.TemporaryDirectory(prefix="bascule-conformance-") as folder:
        if asked.dns:
            for name, results in (await dns.run(os.path.abspath(asked.binary), folder)).items():
                if results is None:
                    print(f"\n## {name}: not installed")
                else:
                    unknown |= report(name, results, asked.all)
        if not (asked.h2spec or asked.llhttp or asked.smuggler):
            sys.exit(1 if unknown else 0)
        async with Stage(os.path.abspath(asked.binary), folder) as stage:
            async for name, results in suites(asked, stage):
                unknown |= report(name, results, asked.all)
    sys.exit(1 if unknown else 0)


def report(name, results, everything):
    """Prints one suite; whether something differs for no known reason."""
    counts = collections.Counter(result.verdict for result in results)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (AGREED, STRICTER, DIFFERS))
    print(f"\n## {name}: {len(results)} cases, {said}\n")
    shown = [result for result in results if everything or result.verdict != AGREED]
    if shown:
        print("| case | the suite expects | Bascule | verdict | why |\n|---|---|---|---|---|")
    for result in sorted(shown, key=lambda result: (result.verdict, result.why or "", result.case)):
        print(f"| {' | '.join(cell.replace('|', '/') for cell in result.cells())} |")
    return any(result.verdict != AGREED and not result.why for result in results)


if __name__ == "__main__":
    asyncio.run(main())
