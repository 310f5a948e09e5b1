"""Apps: programs that go on running, as entries of the agenda."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.contracts.store import AgendaEntry
from prolocutor.dialog import notices
from prolocutor.dialog.notices import Notice

PROGRAMS: Final = "@program"
"""The skill by whose name running programs stand on the agenda; no skill is called so."""

MOST: Final = 50
"""Programs of one person that run at the same time."""


class RunningApp(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A running program: its source (one statement), what it is called, and where it stands.

    `created` is when it was started (UNIX seconds), `timezone` its person's. `seen` are digests of
    the results that its monitor gave last; None before the first. `error` is why its last run
    failed, `runs` how often it has run.
    """

    id: str
    code: str
    name: str
    description: str
    created: float
    icon: str | None = None
    timezone: str | None = None
    seen: list[str] | None = None
    error: str | None = None
    runs: int = 0


def entry_of(app: RunningApp, user: str, dialog_name: str, due: float) -> AgendaEntry:
    """Return the entry of the agenda by which a program runs next."""
    return AgendaEntry(
        user=user,
        dialog_name=dialog_name,
        skill=PROGRAMS,
        key=app.id,
        due=due,
        body=notices.encode(Notice(program=msgspec.to_builtins(app))),
    )


def app_of(entry: AgendaEntry) -> RunningApp:
    """Read the program of an entry; `msgspec.ValidationError` where it is none."""
    return msgspec.convert(notices.decode(entry.body).program, RunningApp)


def listed(app: RunningApp) -> dict[str, Any]:
    """Return a program as Almond's clients list it."""
    return {
        "uniqueId": app.id,
        "name": app.name,
        "description": app.description,
        "error": app.error,
        "code": app.code,
        "icon": app.icon,
        "isEnabled": True,
        "isRunning": True,
    }
