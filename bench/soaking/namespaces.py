"""NetworkNamespace: a network of a replica's own, whose links can be broken as cables are.

Needs root, `ip` (Debian's iproute2), and libfaketime for clocks. Nothing here closes or resets
a connection: packets just do not come, as after a switch that dies. No link is ever down: its route
would go with it, and what is sent to the replica would leave this machine by the default route.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random
from typing import Final, Literal

NetFault = Literal["cut", "oneway", "island"]
"""No packets between a replica and the database; none in one direction; none at all."""

NOWHERE: Final = "02:00:00:00:00:99"
"""A hardware address that no card has: what is sent to it is dropped, without a word."""
FAKETIME: Final = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
LAST: Final = "4096"
"""The metric of the routes that are taken where a namespace is gone."""
DAY: Final = 86_400
JUMPS: Final = (-400 * DAY, -2 * DAY, -3600, 0, 3600, 2 * DAY, 400 * DAY)
"""Seconds by which the clock of a replica is wrong."""


class NetworkNamespace:
    """One namespace with two links: `data` to the database, `calls` to clients.

    `host` is its address for clients, `database_host` ours for it.
    """

    def __init__(self, number: int, clock: Path) -> None:
        self.name = f"soak{number}"
        self.host = f"10.78.{number}.2"
        self.database_host = f"10.77.{number}.1"
        self._clock = clock
        self._links = {
            f"data{number}": (f"10.77.{number}.1", f"10.77.{number}.2"),
            f"calls{number}": (f"10.78.{number}.1", f"10.78.{number}.2"),
        }
        self._data = f"data{number}"

    @property
    def command(self) -> list[str]:
        """The words that run a program in it."""
        return ["ip", "netns", "exec", self.name]

    @property
    def environ(self) -> dict[str, str]:
        """Variables of programs whose clock `jump` moves; their monotonic clock goes on."""
        return {
            "LD_PRELOAD": FAKETIME,
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",
        }

    def open(self) -> None:
        """Make it, in place of one that was left over."""
        self._clock.write_text("+0\n")
        self.aclose()
        _ip("netns", "add", self.name)
        self._inside("link", "set", "lo", "up")
        for link, (here, there) in self._links.items():
            _ip("route", "replace", "unreachable", _network_of(here), "metric", LAST)
            _ip("link", "add", link, "type", "veth", "peer", "name", f"{link}p")
            _ip("link", "set", f"{link}p", "netns", self.name)
            _ip("address", "add", f"{here}/24", "dev", link)
            _ip("link", "set", link, "up")
            self._inside("address", "add", f"{there}/24", "dev", f"{link}p")
            self._inside("link", "set", f"{link}p", "up")

    def aclose(self) -> None:
        """Remove it, with its links: at once, while the namespace goes in its own time."""
        _try_ip("netns", "delete", self.name)
        for link, (here, _) in self._links.items():
            _try_ip("link", "delete", link)
            _try_ip("route", "delete", "unreachable", _network_of(here))

    def fail(self, fault: NetFault, random: Random) -> None:
        """Drop what its links carry until `mend`."""
        for link in self._links if fault == "island" else (self._data,):
            ways = [self._drop_sent, self._drop_received]
            for drop in [random.choice(ways)] if fault == "oneway" else ways:
                drop(link)

    def mend(self) -> None:
        """Let everything pass again."""
        for link in self._links:
            _ip("neighbour", "flush", "dev", link, "nud", "permanent")
            self._inside("neighbour", "flush", "dev", f"{link}p", "nud", "permanent")

    def _drop_sent(self, link: str) -> None:
        """Drop what we send to it."""
        _ip("neighbour", "replace", self._links[link][1], "lladdr", NOWHERE, "dev", link)

    def _drop_received(self, link: str) -> None:
        """Drop what it sends to us."""
        here = self._links[link][0]
        self._inside("neighbour", "replace", here, "lladdr", NOWHERE, "dev", f"{link}p")

    def jump(self, random: Random) -> None:
        """Set the wall clock of its programs to another time, up to a year off."""
        self._clock.write_text(f"{random.choice(JUMPS):+d}\n")

    def _inside(self, *words: str) -> None:
        _ip("-n", self.name, *words)


def _network_of(address: str) -> str:
    return f"{address.rpartition('.')[0]}.0/24"


def _try_ip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], check=False, capture_output=True, text=True)


def _ip(*words: str) -> None:
    done = _try_ip(*words)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
