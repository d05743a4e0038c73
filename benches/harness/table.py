"""The tables of `benches/README.md`."""

import re

TOLERANCE = 1.1


def verdict(ratio, everything, goal):
    if goal is None:
        return ""
    if ratio <= goal and everything <= 1.0:
        return "met"
    if ratio <= goal * TOLERANCE and everything <= TOLERANCE:
        return "met within 10 %"
    over = [f"missed by {(ratio / goal - 1) * 100:.0f} %"] if ratio > goal * TOLERANCE else []
    over += [f"with load and servers {everything:.2f}"] if everything > TOLERANCE else []
    return ", ".join(over)


def ratios(results):
    lines = [
        "| work | peer | goal | own CPU (least–most) | with load and servers | Bascule | peer | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        ours = result.row.targets[0].name
        for target in result.row.targets[1:]:
            goal = result.row.goals.get(target.name)
            said = f"≤ {goal}" if goal else "–"
            start = f"| {result.row.title} | {target.name} | {said} |"
            missing = result.missing.get(ours) or result.missing.get(target.name)
            if missing:
                lines.append(f"{start} – | – | – | – | not measured: {missing} |")
                continue
            own = result.ratio(ours, target.name, "own_ns")
            everything = result.ratio(ours, target.name, "all_ns")
            least, most = result.spread(ours, target.name)
            lines.append(
                f"{start} {own:.2f} ({least:.2f}–{most:.2f}) | {everything:.2f} | {result.own_us(ours):.1f} µs"
                f" | {result.own_us(target.name):.1f} µs | {verdict(own, everything, goal)} |"
            )
    return lines


def facts(rows):
    """Figures without a ratio: (what, figure, goal, verdict)."""
    lines = ["| what | figure | goal | |", "|---|---|---|---|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def write(path, marker, lines):
    """Puts the lines between the markers of the file."""
    begin, end = f"<!-- {marker}: written by scripts/bench -->", f"<!-- end of {marker} -->"
    with open(path) as file:
        text = file.read()
    block = "\n".join([begin, "", *lines, "", end])
    if begin not in text:
        text = f"{text.rstrip()}\n\n{block}\n"
    else:
        text = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: block, text, flags=re.DOTALL)
    with open(path, "w") as file:
        file.write(text)
