"""The last whole turn of a dialog: its question, the reply, and its subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from prolocutor.asks.controls import correction
from prolocutor.dialog.rounds import read_follow_up
from prolocutor.plugins.language.follow_up.grammar import is_courtesy, is_whole
from prolocutor.reading.languages import is_frequent, language_of

MAX_CHARACTERS: Final = 400
"""Characters of a question or reply that are read."""

MOST_ENTITIES: Final = 8

UNANSWERED: Final = frozenset({"", "fallback"})
"""The skills of replies that nobody gave."""


class LastTurn(msgspec.Struct, frozen=True):
    """A question that stands alone, the reply to it, and its subject by the services.

    `text` are the words that are said now. `entities` are names, `types` their types, in the same
    order, "" where no service tells. `fillings` are the slots of the question by name, as the agent
    gave them (`continue`): texts that may stand there, the present one first. `language` is that of
    the question, `spoken` that of the words that are said now, "" where neither annotations nor
    words tell. `skill` is the agent that answered, `card` the words of its card. `before` are the
    entities of the turn before with their types, and `listed` the things that the latest reply with
    several of them names. `replies` are the replies of the turns before.
    """

    question: str
    reply: str
    entities: tuple[str, ...] = ()
    language: str = ""
    spoken: str = ""
    types: tuple[str, ...] = ()
    fillings: dict[str, list[str]] = {}
    skill: str = ""
    text: str = ""
    card: frozenset[str] = frozenset()
    before: tuple[tuple[str, str], ...] = ()
    listed: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()

    @staticmethod
    def is_frequent(word: str) -> bool:
        """Whether a word is so frequent that it tells a language, and hardly a name."""
        return is_frequent(word)

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """The entities with their types, "" for an unknown type."""
        types = (*self.types, *("" for _ in self.entities))
        return list(zip(self.entities, types, strict=False))


MOST_EARLIER: Final = 10
"""Turns among which one is found that words come back to."""


def last_turns_of(state: Mapping[str, Any], text: str = "") -> list[LastTurn]:
    """Return the last turn that was a question; none where there is none, or it asks back itself.

    A composed reply gives a turn for each of its parts. Turns of mere courtesy are passed over. A
    question that was a follow-up itself is the whole question that it meant; an answer to an ask is
    the question that it completed, if the agent tells it (`question` of the reply's `attributes`).
    """
    before = state["utterances"][:-1]
    told = (before[-1].get("attributes") or {}) if before else {}
    asks_back = told.get("ask") and "asked_by" not in told
    if asks_back and correction(text) is None:
        return []
    return next(_find_turns(before, text), [])


def earlier_turns_of(state: Mapping[str, Any], text: str) -> list[LastTurn]:
    """Return the last ten turns that were questions, the latest first."""
    turns = _find_turns(state["utterances"][:-1], text)
    return [one for some in islice(turns, MOST_EARLIER) for one in some]


def _find_turns(before: Sequence[Mapping[str, Any]], text: str) -> Iterator[list[LastTurn]]:
    reply: Mapping[str, Any] = {}
    for one in reversed(before):
        if "active_skill" in one:
            reply = one
            continue
        said = str(one.get("text", ""))
        declined = reply.get("active_skill") in UNANSWERED and correction(text) is None
        if is_courtesy(said) or (declined and (is_whole(text) or not is_whole(said))):
            continue
        annotations = one.get("annotations") or {}
        found = read_follow_up(annotations)
        if (reply.get("attributes") or {}).get("no_answer") and correction(text) is None:
            continue  # nobody knew what it was about
        if found is not None and found.corrects and found.text == said:
            continue  # it took the turn before back, which may still be gone on with
        told = reply.get("attributes") or {}
        whole_question, language = _told_question(told.get("question"))
        question = " ".join((whole_question or (found.text if found else said)).split())
        if not question or len(question) > MAX_CHARACTERS:
            yield []
            continue
        also = [(reply.get("annotations") or {}).get("entities"), annotations.get("entities")]
        language = language or (found and found.language) or _spoken_language(annotations, question)
        whole = {
            "question": question,
            "text": "" if declined else reply.get("text", ""),
            "skill": reply.get("active_skill", ""),
            "entities": told.get("entities"),
            "continue": told.get("continue"),
        }
        parts = told.get("parts")
        given = [p for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []
        spoken = _spoken_language(annotations, said) if whole_question else ""
        yield [_turn(one, also, language, spoken, text) for one in given or [whole]]


def _told_question(given: Any) -> tuple[str, str]:
    """Return the whole question that an answer completed, as its agent tells it, and its language.

    Each is "" where it is not told.
    """
    told = given if isinstance(given, dict) else {"text": given}
    text, language = told.get("text"), told.get("language")
    return text if isinstance(text, str) else "", language if isinstance(language, str) else ""


def _turn(
    part: Mapping[str, Any], also: list[Any], language: str, spoken: str, text: str
) -> LastTurn:
    given = [part.get("entities"), *also]
    entities = [one for some in given for one in _entities(some)][:MOST_ENTITIES]
    slots = part.get("continue")
    fillings = {k: _fillings(v) for k, v in slots.items()} if isinstance(slots, dict) else {}
    for kind, values in fillings.items():
        known = {name for name, _ in entities}
        entities += [(values[0], kind.lower())] if values and values[0] not in known else []
    skill = part.get("skill")
    return LastTurn(
        question=" ".join(str(part.get("question", ""))[:MAX_CHARACTERS].split()),
        reply=" ".join(str(part.get("text", ""))[:MAX_CHARACTERS].split()),
        entities=tuple(name for name, _ in entities),
        language=language,
        spoken=spoken,
        types=tuple(kind for _, kind in entities),
        fillings={kind: values for kind, values in fillings.items() if values},
        skill=skill if isinstance(skill, str) else "",
        text=text,
    )


def _spoken_language(annotations: Mapping[str, Any], question: str) -> str:
    """Return the language of the annotation, or else of the question."""
    noticed = annotations.get("language")
    if isinstance(noticed, dict) and noticed.get("by") != "default":
        code = noticed.get("code")
        if isinstance(code, str):
            return code
    found = language_of(question)
    return found.code if found else ""


def _entities(given: Any) -> list[tuple[str, str]]:
    """Return the texts and types of entities: texts, objects with a `text` (or `value`) and a
    `type`, or an object of texts by their types."""
    if isinstance(given, dict):
        given = [{"text": one, "type": kind} for kind, one in given.items()]
    if not isinstance(given, list):
        return []
    found = []
    for one in given:
        text: Any = one
        kind: Any = ""
        if isinstance(one, dict):
            text, kind = one.get("text", one.get("value")), one.get("type", "")
        if isinstance(text, str) and text.strip():
            found.append((text.strip(), kind.lower() if isinstance(kind, str) else ""))
    return found


def _fillings(given: Any) -> list[str]:
    """Return the texts that may stand in a slot: a text or number, or a list of them."""
    listed = given if isinstance(given, list) else [given]
    return [
        str(one)
        for one in listed
        if isinstance(one, str | int | float) and not isinstance(one, bool)
    ]
