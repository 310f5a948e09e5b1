"""Human and Bot: who takes part in a dialog, and how what is known of them changes.

A profile is a chain of versions: each turn that changes it adds one list of `Change`s.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject

PROFILE_KEYS: Final = (
    "name",
    "gender",
    "birthdate",
    "location",
    "home_coordinates",
    "work_coordinates",
    "occupation",
    "income_per_year",
)
PROTECTED_KEYS: Final = frozenset({"id", "user_external_id", "user_type"})

Change = list[Any]
"""One changed value: `[part, key, value]`, or `[part, key]` where it was removed.

`part` is "" (the profile's own keys), "profile" or "attributes".
"""


class Human(msgspec.Struct, kw_only=True):
    """A person: `id` is ours (32 hex), `user_external_id` the caller's. The same in all dialogs."""

    id: str
    user_external_id: str
    persona: list[Any] | JsonObject = []
    profile: JsonObject = msgspec.field(default_factory=lambda: dict.fromkeys(PROFILE_KEYS))
    attributes: JsonObject = {}
    user_type: str = "human"
    extra: JsonObject = {}


class Bot(msgspec.Struct, kw_only=True):
    """The assistant's side of one dialog; each dialog has a bot of its own."""

    id: str
    persona: list[Any] | JsonObject = []
    attributes: JsonObject = {}
    user_type: str = "bot"
    extra: JsonObject = {}


def apply_changes(state: JsonObject, changes: list[Change]) -> None:
    """Apply one version's changes to the agent state of a profile, in place."""
    for part, key, *value in changes:
        target = state[part] if part else state
        if value:
            target[key] = value[0]
        else:
            target.pop(key, None)
