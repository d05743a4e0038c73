"""One row: targets in turn, round after round."""

from dataclasses import dataclass, field
from statistics import median

from .machine import Failed, Missing


@dataclass
class Sample:
    own_ns: float
    # Of the server, the load and the servers behind together.
    all_ns: float


@dataclass
class Result:
    row: object
    # By target: a sample for each round.
    samples: dict = field(default_factory=dict)
    # Why there is no figure of Bascule, or of a peer.
    missing: dict = field(default_factory=dict)

    def own_us(self, name):
        return median(sample.own_ns for sample in self.samples[name]) / 1000

    def ratio(self, name, peer, what):
        """Median over the rounds of the ratio within a round."""
        pairs = zip(self.samples[name], self.samples[peer], strict=True)
        return median(getattr(ours, what) / getattr(theirs, what) for ours, theirs in pairs)

    def spread(self, name, peer):
        ratios = sorted(a.own_ns / b.own_ns for a, b in zip(self.samples[name], self.samples[peer], strict=True))
        return ratios[0], ratios[-1]


def measure(servers, row, rounds, seconds, say):
    result = Result(row)
    ready = {}
    for target in row.targets:
        try:
            servers.get(target.kind)
            ready[target.name] = row.check(servers, target)
        except Missing as error:
            result.missing[target.name] = str(error)
        except Failed as error:
            # A peer that does not serve makes all ratios void; what Bascule cannot do is a finding.
            if target is not row.targets[0]:
                raise
            result.missing[target.name] = str(error).splitlines()[0]
    for at in range(rounds):
        for target in row.targets:
            if target.name in result.missing:
                continue
            process = servers.get(target.kind)
            own, beside, ticks = process.cpu_ns(), servers.beside_ns(), process.kernel_ticks()
            units = row.work(servers, target, seconds, ready[target.name])
            if units == 0:
                raise Failed(f"{target.name} did nothing")
            own, beside = process.cpu_ns() - own, servers.beside_ns() - beside
            kernel, everything = (after - before for after, before in zip(process.kernel_ticks(), ticks, strict=True))
            sample = Sample(own / units, (own + beside) / units)
            result.samples.setdefault(target.name, []).append(sample)
            say(
                f"{row.id} {at + 1}/{rounds} {target.name}: {sample.own_ns / 1000:.1f} µs a {row.unit},"
                f" {kernel / max(everything, 1):.0%} of it in the kernel"
            )
    return result
