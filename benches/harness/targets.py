"""What a row of the tables is made of."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Target:
    """`kind` is one of `servers.KINDS`; the first target of a row is Bascule."""

    name: str
    kind: str
    port: int
    tls: bool = False
    has_cookie: bool = True


@dataclass(frozen=True)
class Row:
    id: str
    area: str
    title: str
    unit: str
    # Bascule's CPU as a multiple of the peer's, at most: by the name of the peer. Peers without one: for orientation.
    goals: dict
    targets: tuple
    # (servers, target) → what `work` needs; fails where the target does not do its duty.
    check: Callable
    # (servers, target, seconds, what check gave) → units done.
    work: Callable
