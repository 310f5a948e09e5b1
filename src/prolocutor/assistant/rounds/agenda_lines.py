"""From the `schedule` and `unschedule` of chosen hypotheses to entries of the agenda."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prolocutor.contracts.store import AgendaEntry
from prolocutor.dialog import notices
from prolocutor.dialog.notices import Notice
from prolocutor.dialog.schedules import time_of


def entries(
    user: str, dialog_name: str, since: float, chosen: Iterable[tuple[str, dict[str, Any]]]
) -> list[AgendaEntry]:
    """Return the agenda entries of the chosen hypotheses, each with its skill.

    Seconds count from `since`, when the person spoke, so that a second run comes to the same.
    """
    made = []
    for skill, value in chosen:
        for line in value.get("schedule") or ():
            wait = line.get("in")
            due = time_of(line["at"]) if wait is None else since + wait
            notice = Notice(
                messages=line["messages"],
                ask=line.get("ask"),
                skill=skill,
                every=line.get("every"),
                timezone=line.get("timezone"),
                first=due if line.get("every") else None,
            )
            entry = AgendaEntry(
                user=user,
                dialog_name=dialog_name,
                skill=skill,
                key=line["key"],
                due=due,
                body=notices.encode(notice),
            )
            made.append(entry)
    return made


def struck(chosen: Iterable[tuple[str, dict[str, Any]]]) -> list[tuple[str, str]]:
    """Return the skill and key of each entry that the chosen hypotheses take off the agenda."""
    return [(skill, key) for skill, value in chosen for key in value.get("unschedule") or ()]
