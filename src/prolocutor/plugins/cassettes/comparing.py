"""Compares a recorded conversation with its replay, and describes the differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.plugins.cassettes.cassette import RecordedReply

CLOSE: Final = 1e-6
"""By how much numbers that are equal may differ, as a share."""

MOST_LINES: Final = 12
"""Changes of a request that are listed."""

_MAX_CHARACTERS: Final = 160

_TWICE: Final = ("human_utterances[", "bot_utterances[")
"""Beginnings of paths in an agent state that repeat its `utterances`."""

_WORDS: Final = {"reply": "text", "failed": "failed services"}


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A difference: its turn (0 for none), its description, and its lines as a diff.

    `kind` is `request`, `calls`, `reply` or `assistant`; `where` is the service or the member.
    """

    turn: int
    kind: str
    where: str
    lines: list[str]

    def told(self) -> str:
        """Return the difference as text."""
        place = f"turn {self.turn}, " if self.turn else ""
        return "\n".join([f"{place}{self.kind} {self.where}".rstrip(), *self.lines])


def changed_members(before: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Return the differing members by path, with both values; UNSET if a side lacks the member."""
    if before == now and type(before) is type(now):
        return
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*before, *(key for key in now if key not in before)]:
            old, new = before.get(key, msgspec.UNSET), now.get(key, msgspec.UNSET)
            yield from changed_members(old, new, f"{path}.{key}" if path else key)
    elif isinstance(before, list) and isinstance(now, list):
        for place in range(max(len(before), len(now))):
            old = before[place] if place < len(before) else msgspec.UNSET
            new = now[place] if place < len(now) else msgspec.UNSET
            yield from changed_members(old, new, f"{path}[{place}]")
    elif not _is_close(before, now):
        yield path, before, now


def _is_close(before: Any, now: Any) -> bool:
    if isinstance(before, bool) or isinstance(now, bool):
        return before is now
    if isinstance(before, int | float) and isinstance(now, int | float):
        return abs(before - now) <= CLOSE * max(abs(before), abs(now))
    return bool(before == now)


def diff_lines(before: Any, now: Any) -> list[str]:
    """Return the lines of a diff between two values, [] if they are equal."""
    lines: list[str] = []
    twice = _TWICE if isinstance(before, dict) and "utterances" in before else ()
    changed = (member for member in changed_members(before, now) if not member[0].startswith(twice))
    for path, old, new in islice(changed, MOST_LINES):
        name = f"{path}: " if path else ""
        if old is not msgspec.UNSET:
            lines.append(f"  - {name}{_shorten(old)}")
        if new is not msgspec.UNSET:
            lines.append(f"  + {name}{_shorten(new)}")
    if more := sum(1 for _ in changed):
        lines.append(f"  ... and {more} more")
    return lines


def _shorten(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


def compare_replies(turn: int, before: RecordedReply, now: RecordedReply) -> Iterator[Difference]:
    """Return the differences of two replies, member by member."""
    for field in RecordedReply.__struct_fields__:
        lines = diff_lines(getattr(before, field), getattr(now, field))
        if lines:
            yield Difference(turn=turn, kind="reply", where=_WORDS.get(field, field), lines=lines)


def compare_services(
    before: dict[str, JsonObject], now: dict[str, JsonObject], called: Sequence[str]
) -> Iterator[Difference]:
    """Return the differences in the targets of the services that were called."""
    for key in called:
        old, new = before.get(key), now.get(key)
        if old is None or new is None:
            continue  # the calls themselves differ then
        lines = diff_lines(_address(old), _address(new))
        if lines:
            yield Difference(turn=0, kind="request", where=f"address of {key}", lines=lines)


def _address(facts: JsonObject) -> JsonObject:
    return {key: value for key, value in facts.items() if key not in ("here", "inline", "format")}


def drop_ignored(value: Any, paths: Sequence[str]) -> Any:
    """Return a value without the members at some dotted paths; `*` matches any name."""
    for path in paths:
        value = _drop_path(value, path.split("."))
    return value


def _drop_path(value: Any, path: Sequence[str]) -> Any:
    first, *rest = path
    if isinstance(value, list):
        return [
            _drop_path(one, rest) if rest and first in ("*", str(place)) else one
            for place, one in enumerate(value)
            if rest or first not in ("*", str(place))
        ]
    if not isinstance(value, dict):
        return value
    return {
        key: _drop_path(one, rest) if rest and first in ("*", key) else one
        for key, one in value.items()
        if rest or first not in ("*", key)
    }
