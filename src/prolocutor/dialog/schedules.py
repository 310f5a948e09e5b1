"""What a hypothesis puts on the agenda (`schedule`) and takes off it (`unschedule`), checked."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final

from prolocutor.dialog.messages import checked_ask, checked_messages
from prolocutor.dialog.recurrence import EVERY, LATEST, zone_of
from prolocutor.errors import BadReply

MOST: Final = 100
"""The most lines that one hypothesis may put on the agenda, and take off it."""

MAX_KEY: Final = 200


def check(item: dict[str, Any], path: str) -> None:
    """Check both keys of a hypothesis and complete its messages; `BadReply` with the path.

    `schedule` is a list of `{key, at | in, messages, ask?, every?, timezone?}`: `at` a time in ISO
    8601 (UTC where it names no zone) or UNIX seconds, `in` seconds from now; `every` day, weekday,
    week, month or year it comes again, by the clock of `timezone`. `unschedule` is a list of keys.
    """
    for key in ("schedule", "unschedule"):
        value = item.get(key)
        if value is None:
            continue
        if not isinstance(value, list):
            raise BadReply("expected a list", path=f"{path}.{key}")
        if len(value) > MOST:
            raise BadReply(f"{len(value)}, more than the {MOST} allowed", path=f"{path}.{key}")
    for place, line in enumerate(item.get("schedule") or ()):
        _check_line(line, f"{path}.schedule[{place}]")
    for place, key in enumerate(item.get("unschedule") or ()):
        _check_key(key, f"{path}.unschedule[{place}]")


def time_of(at: str | float) -> float:
    """Return a time in UNIX seconds."""
    if not isinstance(at, str):
        return at
    time = datetime.fromisoformat(at)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _check_line(line: Any, path: str) -> None:
    if not isinstance(line, dict):
        raise BadReply("expected an object with key, at or in, and messages", path=path)
    _check_key(line.get("key"), f"{path}.key")
    if (line.get("at") is None) == (line.get("in") is None):
        raise BadReply("expected either `at` or `in`", path=path)
    if line.get("in") is not None:
        _check_seconds(line["in"], f"{path}.in")
    elif isinstance(line["at"], str):
        try:
            time_of(line["at"])
        except (ValueError, OverflowError):
            raise BadReply(f"{line['at']!r:.80} is no time", path=f"{path}.at") from None
    else:
        _check_seconds(line["at"], f"{path}.at")
    messages = line.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadReply("expected at least one message", path=f"{path}.messages")
    line["messages"] = checked_messages(messages, f"{path}.messages")
    checked_ask(line.get("ask"), f"{path}.ask")
    _check_recurrence(line, path)


def _check_recurrence(line: dict[str, Any], path: str) -> None:
    every, zone = line.get("every"), line.get("timezone")
    if every is not None and (not isinstance(every, str) or every not in EVERY):
        raise BadReply(f"expected one of {', '.join(EVERY)}", path=f"{path}.every")
    try:
        if zone is not None:
            zone_of(zone)
    except (ValueError, TypeError) as error:
        raise BadReply(str(error), path=f"{path}.timezone") from None


def _check_key(key: Any, path: str) -> None:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        raise BadReply(f"expected a text of 1 to {MAX_KEY} characters", path=path)


def _check_seconds(value: Any, path: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not isfinite(value) or abs(value) > LATEST:
        raise BadReply("expected a number of seconds", path=path)
