"""Changes of a profile, and the chain of its versions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from prolocutor.dialog import plain
from prolocutor.dialog.dialog import PROFILE_KEYS, PROTECTED_KEYS, Change, apply_changes
from prolocutor.dialog.plain import decode, encode
from prolocutor.errors import PersonUnreadable, StoreCorrupt

KEY_FRAME_INTERVAL: Final = 16
"""Every version with a number divisible by this is a key frame with the whole state."""

VersionRow = tuple[int, bytes, bytes | None]
"""Number, changes and, of a key frame, the state."""

MAX_PROFILE_BYTES: Final = 1_000_000

Fault = Callable[[str], None]
"""Records something wrong that does not make a whole reply useless."""

_KIND_NAMES: dict[type, str] = {dict: "an object", list: "a list"}


@contextmanager
def translate_errors(user: str) -> Iterator[None]:
    """Raise `PersonUnreadable` for malformed rows of a person."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError, StoreCorrupt) as error:
        raise PersonUnreadable(user, f"{type(error).__name__}: {error}") from error


def rebuilt(owner: str, rows: Sequence[VersionRow], wanted: Collection[int]) -> dict[int, bytes]:
    """Return the wanted versions by number; `rows` are the rows of a frame, ascending.

    Raise `StoreCorrupt` for a missing version.
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


def changed_profile(
    profile: bytes, attributes: list[dict[str, Any] | None], max_attributes: int, fault: Fault
) -> tuple[bytes, list[Change]] | None:
    """Apply attributes in order; return the new profile and its changes, None if equal.

    `attributes` are the `human_attributes` or `bot_attributes` of all chosen hypotheses. A
    forbidden change, or a change to too large a profile, is noted as a fault and left out.
    """
    state: dict[str, Any] = decode(profile)
    changes: list[Change] = []
    for given in attributes:
        for key, value in (given or {}).items():
            change = _change(state, key, value, max_attributes, fault)
            if change is not None:
                apply_changes(state, [change])
                changes.append(change)
    if not changes:
        return None
    encoded = encode(state)
    if len(encoded) > MAX_PROFILE_BYTES and len(encoded) > len(profile):
        fault(f"a profile of {len(encoded):,} bytes, more than the {MAX_PROFILE_BYTES:,} allowed")
        return None
    return encoded, changes


def _change(
    state: dict[str, Any], key: str, value: Any, max_attributes: int, fault: Fault
) -> Change | None:
    """Return the change by an attribute: known keys are overwritten, others go to `attributes`."""
    if key in PROTECTED_KEYS:
        fault(f"may not change '{key}'")
        return None
    if key in ("persona", "profile", "attributes"):
        return _change_part(state, key, value, max_attributes, fault)
    part = "profile" if key in state.get("profile", ()) else "attributes"
    known = state[part]
    if key in known:
        return None if _same(known[key], value) else [part, key, value]
    if len(known) >= max_attributes:
        fault(f"attribute '{key!s:.80}' is dropped: there are {max_attributes} already")
        return None
    return [part, key, value]


def _change_part(
    state: dict[str, Any], key: str, value: Any, max_attributes: int, fault: Fault
) -> Change | None:
    """Replace persona, profile or attributes whole, if the new value has the same type."""
    kinds: tuple[type[Any], ...] = (dict, list) if key == "persona" else (dict,)
    if key == "profile" and key not in state:
        return _change(
            state, "attributes", {**state["attributes"], key: value}, max_attributes, fault
        )
    if not isinstance(value, kinds):
        fault(f"'{key}' must stay {' or '.join(_KIND_NAMES[kind] for kind in kinds)}")
        return None
    if key == "attributes" and len(value) > max_attributes:
        fault(f"{len(value)} attributes, more than the {max_attributes} allowed")
        return None
    if key == "profile":
        value = {**dict.fromkeys(PROFILE_KEYS), **value}
    return None if _same(state[key], value) else ["", key, value]


def _same(known: Any, value: Any) -> bool:
    """Return whether JSON says the same for both: 1 is neither 1.0 nor true."""
    return bool(known == value) and encode(known) == encode(value)
