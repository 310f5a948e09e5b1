"""Wishes about running programs that are said in words: to hear which run, or to stop some."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.assistant.rounds import own_words
from prolocutor.contracts.programs import ProgramRun, ProgramWish, RunningProgram
from prolocutor.dialog.inputs import DirectReply
from prolocutor.plugins.almond.programs.running_apps import PROGRAMS
from prolocutor.reading.plain_text import plain

ALL: Final = "All of them"

_KINDS: Final = {
    "timer": ("timer(", "attimer("),
    "monitor": ("monitor(", "edge("),
    "notification": ("monitor(", "edge(", "timer(", "attimer("),
}
_FILLERS: Final = frozenset("the a an my your me of about for on with to any all it".split())


class StopChoice(msgspec.Struct, frozen=True):
    """The ids of the programs offered for stopping."""

    stop: list[str]


def fulfil(wish: ProgramWish, apps: Sequence[RunningProgram]) -> ProgramRun:
    """List the programs of a person, or stop the named programs.

    Without a matching program the run is declined: the words may be meant for a skill.
    """
    if wish.what == "list":
        return ProgramRun(words=_list_programs(apps))
    meant = list(apps) if wish.about is None else [app for app in apps if _is_meant(app, wish)]
    if not meant:
        return ProgramRun(words=own_words.SILENCE, declined=True)
    if len(meant) == 1 or wish.about is None:
        return _stop(meant)
    titles = [f"{one.name}: {one.description}" for one in meant]
    messages: list[dict[str, Any]] = [{"type": "text", "text": "Which one should I stop?"}]
    messages += [
        {"type": "choice", "idx": index, "title": title}
        for index, title in enumerate([*titles, ALL])
    ]
    context = msgspec.to_builtins(StopChoice([one.id for one in meant]))
    return ProgramRun(words=DirectReply(messages=messages, ask="choice"), context=context)


def read_stop_choice(context: Any) -> StopChoice | None:
    """Read the stop choice of a context; None for other contexts."""
    try:
        return msgspec.convert(context, StopChoice)
    except msgspec.ValidationError:
        return None


def stop_chosen(choice: StopChoice, answer: Any, apps: Sequence[RunningProgram]) -> ProgramRun:
    """Stop the chosen program, or all offered programs."""
    index = answer.get("idx") if isinstance(answer, dict) else None
    one = index is not None and index < len(choice.stop)
    ids = [choice.stop[index]] if one and index is not None else choice.stop
    meant = [app for app in apps if app.id in ids]
    return _stop(meant) if meant else ProgramRun(words=own_words.says("It has stopped already."))


def _stop(apps: Sequence[RunningProgram]) -> ProgramRun:
    what = "; ".join(app.description for app in apps)
    words = own_words.says(f"Okay, I have stopped this: {what}.")
    return ProgramRun(words=words, struck=[(PROGRAMS, app.id) for app in apps])


def _list_programs(apps: Sequence[RunningProgram]) -> DirectReply:
    if not apps:
        return own_words.says("You have no programs running.")
    begin = "One program is running:" if len(apps) == 1 else f"{len(apps)} programs are running:"
    lines = [
        f"{number}. {app.name}: {app.description}"
        + (" (its last run failed)" if app.error is not None else "")
        for number, app in enumerate(apps, 1)
    ]
    text = {"type": "text", "text": "\n".join([begin, *lines])}
    return DirectReply(messages=[text, {"type": "link", "title": "My programs", "url": "/apps"}])


def _is_meant(app: RunningProgram, wish: ProgramWish) -> bool:
    begins = _KINDS.get(wish.kind)
    if begins is not None and not app.code.removeprefix("#[confirm=false] ").startswith(begins):
        return False
    known = set(re.findall(r"\w+", plain(f"{app.name} {app.description} {app.code}")))
    said = set(re.findall(r"\w+", plain(wish.about or ""))) - _FILLERS
    return all(word in known or word.removesuffix("s") in known for word in said)
