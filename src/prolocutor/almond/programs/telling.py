"""Telling: what is said of a program that was run, started, or has run unasked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolocutor.almond.programs import result_messages
from prolocutor.almond.programs.running_apps import RunningApp
from prolocutor.almond.programs.statements import StatementOutcome
from prolocutor.dialog.notices import NOTIFICATION

Message = dict[str, Any]


def announced(app: RunningApp, done: StatementOutcome) -> list[Message]:
    """Return the message that tells of an executed statement, then what it says."""
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


def notified(app: RunningApp, done: StatementOutcome) -> list[Message]:
    """Return what is said unasked; an error once, until the program has run well again."""
    messages = with_icon(done.messages, app)
    texts = [one for one in messages if one["type"] == "text"]
    found = {"appId": app.id, **_found(done)}
    title = f"Notification from {app.name}"
    if messages and len(texts) == len(messages) == 1:
        said = texts[0]["text"]
        told = {**found, "text": said}
        messages = [{**messages[0], "text": f"{title}: {said}", NOTIFICATION: told}]
    elif messages:
        messages = [
            {**result_messages.text(title), "icon": app.icon, NOTIFICATION: found},
            *messages,
        ]
    new = [error for error in done.errors if app.error is None]
    return [*messages, *(_failed(app, error) for error in new)]


def with_icon(messages: list[Message], app: RunningApp) -> list[Message]:
    """Return messages with the icon of a program, where they have none."""
    return [{"icon": app.icon, **one} for one in messages]


def created(made: Sequence[tuple[RunningApp, StatementOutcome]]) -> dict[str, Any]:
    """Tell whoever started a program over HTTP what came of its statements."""
    first, _ = made[0]
    return {
        "uniqueId": first.id,
        "description": " and ".join(dict.fromkeys(app.description for app, _ in made)),
        "code": " ".join(app.code for app, _ in made),
        "icon": first.icon,
        "results": [_result(app, done) for app, done in made],
        "errors": [error for _, done in made for error in done.errors],
    }


def refused(code: str, about: dict[str, str | None], error: Exception) -> dict[str, Any]:
    """Tell whoever wanted to start a program over HTTP why it does not run."""
    return {
        "uniqueId": "",
        "description": about.get("description") or "",
        "code": code,
        "icon": about.get("icon"),
        "results": [],
        "errors": [str(error)],
    }


def _found(done: StatementOutcome) -> dict[str, Any]:
    call = done.rows[0].call if done.rows else None
    kind = f"{call.owner.name}:{call.function.name}" if call is not None else None
    return {"raw": result_messages.objects(done.rows), "type": kind}


def _failed(app: RunningApp, error: str) -> Message:
    told = {"appId": app.id, "error": error}
    return {**result_messages.text(error), "icon": app.icon, NOTIFICATION: told}


def _result(app: RunningApp, done: StatementOutcome) -> dict[str, Any]:
    call = done.rows[0].call if done.rows else None
    return {
        "raw": result_messages.objects(done.rows),
        "type": f"{call.owner.name}:{call.function.name}" if call is not None else None,
        "formatted": with_icon(done.messages, app),
    }
