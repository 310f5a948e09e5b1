"""Reads control commands, which steer a round instead of answering: cancel, stop, help, more."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import product
from typing import Final, Literal, TypeAlias

from prolocutor.asks import yesno
from prolocutor.reading.locales.locale import codes, reply_wordings
from prolocutor.reading.plain_text import bare, plain, strip_accents

Control: TypeAlias = Literal[
    "yes", "no", "nevermind", "stop", "help", "more", "back", "again", "unsure", "wait"
]

_NAMES: Final[tuple[Control, ...]] = (
    "nevermind", "stop", "help", "more", "again", "unsure", "wait", "back",
)  # fmt: skip
"""The control commands with wordings of their own, as `replies` of `words.yaml` names them."""

_LEAD: Final = re.compile(
    r"(?:nah|no+|nope|oh|ok(?:ay)?|well|um+|uh+|ach|ähm?|äh|nein|nee|nö|also|na|non|nan|euh|bon|ben"
    r"|bah|bof|ah|eh|on (?:second thoughts?|reflection)|pues|bueno|ay|actually|sorry|wait|just"
    r"|please|bitte|then|hey|hm+|moment|oui|ya|mejor"
    r"|you know what|weißt du was|weisst du was|tu sais quoi|sabes qué"
    r"|alors|finalement|lieber|komm|yeah|and|und|et|y|so|oops)\b[\s,.!…-]*"
)
_TAIL: Final = re.compile(
    r"[\s,.!]+(?:please|thanks|thank you|then|now|bitte|danke|einfach|wieder|s'il te plaît|merci"
    r"|por favor|gracias|mejor|then|ok(?:ay)?|all of it|it|actually|anyway|doch|lieber|tout|va|ya"
    r"|en fait|finalement|eigentlich|al final|any ?more|any longer|after all|at all)$"
)
_TAKES_BACK: Final = (
    r"(?:(?:no+|nah|nein|nee|non|oh|sorry|ach|perdón|pardon)[\s,.]+)?"
    r"(?:no,? wait|wait|hang on|hold on|i meant?|actually|make (?:it|that)|scratch that"
    r"|warte|halt|ich meinte|doch lieber|moment|attends|attendez|je voulais dire|plutôt"
    r"|espera|quise decir|quería decir|mejor|(?:no+|nope|nein|nee|nö|non|sorry|o+ps|whoops|ups|oups"
    r"|uy|hoppla|quatsch|entschuldigung|désolée?|pardon|perdón|perdona|disculpa)(?=,))"
    r"[\s,.:]+(?=\S+ \S|\S{3,}|\d)"
)
_CORRECTS: Final = re.compile(_TAKES_BACK)
_CORRECTS_LATER: Final = re.compile(rf"(?<=[\s,.;…!-]){_TAKES_BACK}")

_WRAPPED: Final = re.compile(
    r"(?:(?:um+|uh+|hm+|well|ok(?:ay)?|so|oh|äh+m?|also|ja|euh|bon|alors|pues|bueno"
    r"|not sure(?: yet)?|i don'?t know|weiß nicht|keine ahnung|je ne sais pas|no sé)[\s,.…]+)*"
    r"(?:(?:how|what) about|(?:can|could|may) (?:i|we|it) (?:say|do|be|have|take)|maybe|perhaps"
    r"|let'?s (?:say|do|take)|i(?:'d| would)? (?:say|like|guess|think|prefer|want)|make it|is|would"
    r"|vielleicht|sagen wir(?: mal)?|wie w[äa]re?(?:'s| es)? mit|ich (?:sage|nehme|denke|möchte)"
    r"|geht|disons|peut-être|et si on disait|je (?:dirais|pense|prends|voudrais)|digamos|quizás?"
    r"|tal vez|qué tal|puede ser|prefiero|creo que)?\s*(?P<said>\S.*?)"
    r"(?:[\s,]+(?:maybe|perhaps|i (?:guess|think)|(?:is|would be|works?)(?: (?:fine|ok(?:ay)?|great"
    r"|good|possible|for me))?|(?:would|will) do|please|geht|passt|wäre gut|vielleicht|peut-être"
    r"|ça (?:va|marche)|quizás?|está bien|me va bien))?[\s.!?¿]*"
)

_LONGEST_CORRECTION: Final = 400
"""Characters of a text that are searched for words of correction."""

_WORD: Final = re.compile(r"\w+")
_MARKS: Final = re.compile(r"[\s,.!…]+")

_LEAVING: Final = frozenset({"nevermind", "stop"})
_LEADS: Final = re.compile(rf"(?:{_LEAD.pattern})*")
_PARTS: Final = re.compile(r"[\s.]*[,.;!…][\s.]*")

_MAX_CHARACTERS: Final = 60
"""Characters of the longest command with words around it."""


@cache
def _controls(every: tuple[str, ...]) -> dict[str, Control]:
    """Return the control commands by their wordings in every language."""
    return {
        spelling: name
        for name in _NAMES
        for phrase in reply_wordings(name)
        for spelling in (phrase, phrase.replace("'", ""))
    }


@cache
def _controls_without_accents(every: tuple[str, ...]) -> dict[str, Control]:
    controls = _controls(every).items()
    return {strip_accents(phrase): name for phrase, name in controls if len(phrase) > 3}


@cache
def _first_words(every: tuple[str, ...]) -> frozenset[str]:
    """Return the words by which control commands begin."""
    return frozenset(
        word[0] for phrase in _controls(every) if (word := _WORD.findall(strip_accents(phrase)))
    )


def correction(text: str) -> str | None:
    """Return the words after the last "no wait" of a text; None where it takes nothing back.

    >>> correction("no wait, call dad"), correction("Monday, no wait, Friday"), correction("no")
    ('call dad', 'friday', None)
    >>> correction("quatsch, Johanna"), correction("oops, Friday")
    ('johanna', 'friday')
    """
    plain_text = plain(text)[:_LONGEST_CORRECTION]
    matches = [_CORRECTS.match(plain_text), *_CORRECTS_LATER.finditer(plain_text)]
    last = matches[-1]
    return None if last is None else plain_text[last.end() :]


def wrapped_answer(text: str) -> str:
    """Return a text without the words around an offered answer: "how about Friday?", "maybe ten".

    >>> wrapped_answer("not sure yet, maybe Friday?"), wrapped_answer("would 8 work for me")
    ('friday', '8')
    """
    match = _WRAPPED.fullmatch(plain(text)[:_MAX_CHARACTERS].strip("¿ "))
    return match["said"] if match else text


def opens_correction(text: str) -> bool:
    """Return whether a text takes back the words before it: "no wait, call dad".

    >>> opens_correction("no wait, call dad"), opens_correction("Monday, no wait, Friday")
    (True, False)
    """
    return _CORRECTS.match(plain(text)[:_LONGEST_CORRECTION]) is not None


def _strip_leads(said: str) -> Control | None:
    """Return the control command in a text, without opening and closing words."""
    if len(said) > _MAX_CHARACTERS:
        return None
    said, starts = strip_accents(said), [0]
    while lead := _LEAD.match(said, starts[-1]):
        starts.append(lead.end())
    ends = [len(said)]
    while tail := _TAIL.search(said[: ends[-1]]):
        ends.append(tail.start())
    for start, end in product(reversed(starts), ends):
        control = _controls_without_accents(codes()).get(_MARKS.sub(" ", said[start:end]).strip())
        if control in ("nevermind", "stop", "help", "unsure", "wait"):
            return control
    return None


def _same_in_each_part(said: str) -> Control | None:
    """Return a control command said twice: "oh, leave it, never mind"."""
    parts = [
        part for part in _PARTS.split(said[: _MAX_CHARACTERS + 1]) if not _LEADS.fullmatch(part)
    ]
    if len(said) > _MAX_CHARACTERS or len(parts) < 2:
        return None
    first, *others = [_controls(codes()).get(part) or _strip_leads(part) for part in parts]
    return first if first is not None and all(other == first for other in others) else None


def _leaves_in_a_row(said: str) -> Control | None:
    """Return the first of several commands to leave without a sign between: "forget it cancel"."""
    words = tuple(strip_accents(_MARKS.sub(" ", said[: _MAX_CHARACTERS + 1])).split())
    controls = _controls_without_accents(codes())
    leaves: list[Control] = []
    while words and len(said) <= _MAX_CHARACTERS:
        lengths = range(len(words), 0, -1)
        length = next((n for n in lengths if controls.get(" ".join(words[:n])) in _LEAVING), 0)
        if not length:
            return None
        leaves.append(controls[" ".join(words[:length])])
        words = words[length:]
    return leaves[0] if leaves else None


def find_control(text: str) -> Control | None:
    """Return the control command of a whole text; None for any other text.

    >>> find_control("Never mind, thanks."), find_control("cancel my booking at the Hilton")
    ('nevermind', None)
    """
    if (control := find_command(text)) is not None:
        return control
    answer = yesno.read_yes_no(text, firmly=True)
    return None if answer is None else ("yes" if answer else "no")


def find_command(text: str) -> Control | None:
    """Return the control command of a whole text, other than yes and no; None for any other text.

    >>> find_command("Never mind, thanks."), find_command("yes")
    ('nevermind', None)
    """
    return _find_command(text, codes())


@lru_cache(maxsize=64)  # the words of a turn, asked for by several
def _find_command(text: str, every: tuple[str, ...]) -> Control | None:
    plain_text, controls = plain(text).strip(" .,!"), _controls(every)
    if _first_words(every).isdisjoint(_WORD.findall(strip_accents(plain_text))):
        return None
    control = controls.get(plain_text) or controls.get(bare(text)) or _strip_leads(plain_text)
    control = control or controls.get(plain_text.strip("?¿ ")) or _same_in_each_part(plain_text)
    return control or _leaves_in_a_row(plain_text)
