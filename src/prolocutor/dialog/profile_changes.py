"""What `human_attributes` and `bot_attributes` change in a profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from prolocutor.dialog.plain import decode, encode
from prolocutor.dialog.profiles import PROFILE_KEYS, PROTECTED_KEYS, Change, apply_changes

MAX_PROFILE_BYTES: Final = 1_000_000

Fault = Callable[[str], None]
"""Records something wrong that does not make a whole reply useless."""


def changed_profile(
    profile: bytes, attributes: list[dict[str, Any] | None], max_attributes: int, fault: Fault
) -> tuple[bytes, list[Change]] | None:
    """Apply attributes one after the other; return the new profile and its changes, None if equal.

    `attributes` are the `human_attributes` or `bot_attributes` of all hypotheses that count. What
    may not be changed, or would make the profile too large, is a fault and left out.
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
    """Return what one attribute changes: known keys are overwritten, others go to `attributes`."""
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
    """Replace persona, profile or attributes whole, if what comes is of the same kind."""
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


_KIND_NAMES: dict[type, str] = {dict: "an object", list: "a list"}
