"""Running programs: as entries of the agenda, and the messages that announce what they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.almond.programs import result_messages
from prolocutor.almond.programs.statements import StatementOutcome
from prolocutor.contracts.programs import (
    CreatedProgram,
    ProgramInfo,
    RunningProgram,
    StatementResult,
)
from prolocutor.contracts.store import AgendaEntry
from prolocutor.dialog import notices
from prolocutor.dialog.notices import NOTIFICATION, Notice

PROGRAMS: Final = "@program"
"""The skill name of agenda entries of running programs; no real skill has it."""

MOST: Final = 50
"""Programs of one person that run at the same time."""


Message = dict[str, Any]


class AppState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a running program, stored in its agenda entry; `code` is one statement.

    `created` is when it was started (UNIX seconds), `timezone` the person's. `seen` are digests of
    the results that its monitor gave last; None before the first run. `error` says why its last
    run failed, `runs` counts its runs.
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


def entry_of(app: AppState, user: str, dialog_name: str, due: float) -> AgendaEntry:
    """Return the entry of the agenda by which a program runs next."""
    return AgendaEntry(
        user=user,
        dialog_name=dialog_name,
        skill=PROGRAMS,
        key=app.id,
        due=due,
        body=notices.encode(Notice(program=msgspec.to_builtins(app))),
    )


def app_of(entry: AgendaEntry) -> AppState:
    """Read the state of a program from its entry; `msgspec.ValidationError` if it has none."""
    return msgspec.convert(notices.decode(entry.body).program, AppState)


def listed(app: AppState) -> RunningProgram:
    """Return what is shown of a running program."""
    return RunningProgram(
        id=app.id,
        name=app.name,
        description=app.description,
        code=app.code,
        icon=app.icon,
        error=app.error,
    )


def announced(app: AppState, done: StatementOutcome) -> list[Message]:
    """Return the message that announces an executed statement, then its own messages."""
    program = {
        "type": "new-program",
        "uniqueId": app.id,
        "name": app.name,
        "code": app.code,
        "results": result_messages.objects(done.rows),
        "errors": done.errors,
        "icon": app.icon,
    }
    return [program, *with_icon(done.messages, app), *map(result_messages.text, done.errors)]


def notified(app: AppState, done: StatementOutcome) -> list[Message]:
    """Return the messages of a run between turns; an error once, until a run has succeeded."""
    messages = with_icon(done.messages, app)
    texts = [one for one in messages if one["type"] == "text"]
    found = {"appId": app.id, **_found(done)}
    title = f"Notification from {app.name}"
    if messages and len(texts) == len(messages) == 1:
        said = texts[0]["text"]
        notification = {**found, "text": said}
        messages = [{**messages[0], "text": f"{title}: {said}", NOTIFICATION: notification}]
    elif messages:
        messages = [
            {**result_messages.text(title), "icon": app.icon, NOTIFICATION: found},
            *messages,
        ]
    new = [error for error in done.errors if app.error is None]
    return [*messages, *(_failed(app, error) for error in new)]


def with_icon(messages: list[Message], app: AppState) -> list[Message]:
    """Return messages with the icon of a program if they have none of their own."""
    return [{"icon": app.icon, **one} for one in messages]


def created(
    made: Sequence[tuple[AppState, StatementOutcome]], entries: Sequence[AgendaEntry]
) -> CreatedProgram:
    """Return what came of the statements of a program."""
    first, _ = made[0]
    return CreatedProgram(
        id=first.id,
        description=" and ".join(dict.fromkeys(app.description for app, _ in made)),
        code=" ".join(app.code for app, _ in made),
        icon=first.icon,
        results=[_result(app, done) for app, done in made],
        errors=[error for _, done in made for error in done.errors],
        entries=entries,
    )


def refused(code: str, info: ProgramInfo, error: Exception) -> CreatedProgram:
    """Return why a program does not run."""
    return CreatedProgram(
        id="", description=info.description or "", code=code, icon=info.icon, errors=[str(error)]
    )


def _found(done: StatementOutcome) -> dict[str, Any]:
    return {"raw": result_messages.objects(done.rows), "type": _function_of(done)}


def _function_of(done: StatementOutcome) -> str | None:
    call = done.rows[0].call if done.rows else None
    return f"{call.owner.name}:{call.function.name}" if call is not None else None


def _failed(app: AppState, error: str) -> Message:
    notification = {"appId": app.id, "error": error}
    return {**result_messages.text(error), "icon": app.icon, NOTIFICATION: notification}


def _result(app: AppState, done: StatementOutcome) -> StatementResult:
    return StatementResult(
        raw=result_messages.objects(done.rows),
        type=_function_of(done),
        formatted=with_icon(done.messages, app),
    )
