"""Profiles as chains of versions: any version is rebuilt from its key frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from prolocutor.dialog import plain
from prolocutor.dialog.profiles import apply_changes
from prolocutor.errors import PersonUnreadable, StoreCorrupt

FRAME: Final = 16
"""One version in so many is a key frame: it has the whole state."""

VersionRow = tuple[int, bytes, bytes | None]
"""Number, changes and, of a key frame, the state."""


@contextmanager
def read_of(user: str) -> Iterator[None]:
    """Raise `PersonUnreadable` where rows of a person are not what they should be."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError, StoreCorrupt) as error:
        raise PersonUnreadable(user, f"{type(error).__name__}: {error}") from error


def rebuilt(owner: str, rows: Sequence[VersionRow], wanted: Collection[int]) -> dict[int, bytes]:
    """Return the wanted versions by number; `rows` are those of one frame, ascending.

    Raise `StoreCorrupt` where one is missing.
    """
    frame = rows[0][2] if rows else None
    if frame is None or set(wanted) - {number for number, _, _ in rows}:
        raise StoreCorrupt(f"versions of the profile {owner} are missing; put back a copy")
    found = {rows[0][0]: frame}
    if set(wanted) != found.keys():
        state = plain.decode(frame)
        for number, changes, _ in rows[1:]:
            apply_changes(state, plain.decode(changes))
            if number in wanted:
                found[number] = plain.encode(state)
    return found
