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

MAX_WISH_CHARACTERS: Final = 120
"""Characters of a text that may be a wish."""

_FIRST: Final = frozenset(
    "what what's whats which list show please stop cancel end delete remove kill do are can".split()
)
_ASKING: Final = frozenset("what what's whats which list show".split())
"""First words that cannot begin a wish to stop a program."""
_PROGRAMS: Final = r"(?:programs?|rules?|monitors?|automations?|apps|notifications)"
_NAMED: Final = re.compile(rf"\b{_PROGRAMS}\b|for me$")
_LIST: Final = re.compile(
    rf"(?:what(?:'s| is|s)|which (?:{_PROGRAMS} )?(?:is|are)) (?:currently |still )?"
    r"(?:running|active)"
    rf"|(?:what|which) {_PROGRAMS} (?:are|do i have|is)(?: currently| still)?(?: running| active)?"
    rf"|what are you (?:running|doing|watching|monitoring) for me"
    rf"|(?:list|show|show me|tell me)(?: all)?(?: of)? (?:my|the)(?: running| active)? {_PROGRAMS}"
    r"|(?:what(?:'s| is|s)) running(?: right)? now"
)
_STOP: Final = r"(?:please )?(?:can you )?(?:stop|cancel|end|delete|remove|kill)"
_EVERYTHING: Final = re.compile(
    rf"{_STOP} (?:everything|all(?: of)?(?: my| the| your)?(?: running| active)? {_PROGRAMS}"
    r"|all of (?:them|it)|them all|all that(?:'s| is) running)"
)
_ONE: Final = re.compile(
    rf"{_STOP} (?:the |my |that |this )?"
    r"(?P<kind>timer|monitor|program|rule|automation|app|notification)s?"
    r"(?:,? (?:about|for|of|on|with|that|which|from|named|called))?(?: (?P<about>\S.*))?"
)
_ABOUT: Final = re.compile(
    rf"{_STOP} (?:the |my )?(?P<about>\S.*?) (?P<kind>timer|monitor|program|rule|notification)s?"
)
_TELLING: Final = re.compile(
    rf"{_STOP} (?:notifying|telling|informing|alerting) (?:me|us) (?:about|of|on|when) "
    r"(?P<about>\S.*)"
    rf"|{_STOP} (?:watching|monitoring) (?P<watched>\S.*)"
)
_WORDS: Final = re.compile(
    r"program|rule|monitor|automation|app|notif|timer|running|active|doing|watching|telling"
    r"|informing|alerting|everything|all"
)
"""Every phrase contains such a word, and the search takes a third of the time of reading a text."""


class StopChoice(msgspec.Struct, frozen=True):
    """The ids of the programs offered for stopping."""

    stop: list[str]


def fulfil(wish: ProgramWish, apps: Sequence[RunningProgram]) -> ProgramRun:
    """List the programs of a person, or stop the named programs.

    Without a matching program the run is declined: the words may be meant for a skill.
    """
    if wish.what == "list" and not (apps or wish.kind):
        return ProgramRun(words=own_words.SILENCE, declined=True)  # "what is running": a timer
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


def find_program_wish(text: str) -> ProgramWish | None:
    """Return the wish of a text that lists or stops running programs; None for any other text.

    >>> find_program_wish("Stop the timer about the comic!")
    ProgramWish(what='stop', about='the comic', kind='timer')
    """
    if len(text) > MAX_WISH_CHARACTERS:
        return None
    first = text.lstrip().partition(" ")[0].lower()
    if first not in _FIRST:
        return None
    if text.isascii() and not _WORDS.search(text.lower()):
        return None
    said = plain(text).strip(" .!?")
    said = said.removesuffix(" please").rstrip(" ,")
    if _LIST.fullmatch(said):
        return ProgramWish(what="list", kind="program" if _NAMED.search(said) else "")
    if first in _ASKING:
        return None
    if _EVERYTHING.fullmatch(said):
        return ProgramWish(what="stop")
    if match := _TELLING.fullmatch(said):
        about = match["about"] or match["watched"]
        return ProgramWish(what="stop", about=about, kind="notification")
    for pattern in (_ONE, _ABOUT):
        if match := pattern.fullmatch(said):
            return ProgramWish(what="stop", about=match["about"] or "", kind=match["kind"])
    return None
