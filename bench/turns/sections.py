"""All tables of the benchmark by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from bench.turns import alone, races
from bench.turns.contest import Failed, Setting, tell
from bench.turns.report import Section

SECTIONS: Final[dict[str, Callable[[Setting], Section]]] = {
    "turns": races.turns,
    "door": races.door,
    "services": races.services,
    "lengths": alone.lengths,
    "turn-490": races.long_dialogs,
    "memory": alone.idle_memory,
    "routing": races.routing,
    "start": alone.starting,
    "where": alone.where,
}
QUICK: Final = ("turns", "door")


def measured(setting: Setting, names: Iterable[str]) -> Iterable[Section]:
    """Gives the sections one by one; one that fails is a line of the report."""
    for name in names:
        tell(f"{name}:")
        try:
            yield SECTIONS[name](setting)
        except Failed as error:
            yield Section(name, name, f"Failed: {error}", ["figures"], [["none"]])
