"""The last whole turn of a dialog: its question, the reply, and what it was about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.dialog.follow_up import follow_up_of
from prolocutor.plugins.language.follow_up.remarks import is_courtesy
from prolocutor.plugins.language.follow_up.wordings import is_worded_courtesy
from prolocutor.reading.languages import language_of

LONGEST: Final = 400
"""Characters of a question or reply that are read."""

MOST_ENTITIES: Final = 8


class LastTurn(msgspec.Struct, frozen=True):
    """A question that stands alone, the reply to it, and the entities that services found.

    `language` is that of the question, `spoken` that of the words that it was said in, "" where
    neither annotations nor words tell.
    """

    question: str
    reply: str
    entities: tuple[str, ...] = ()
    language: str = ""
    spoken: str = ""


def last_turn_of(state: Mapping[str, Any]) -> LastTurn | None:
    """Return the last turn that was a question; None where there is none, or one asks back.

    Turns of mere courtesy are passed over. A question that was a follow-up itself is the whole
    question that it meant.
    """
    before = state["utterances"][:-1]
    if before and (before[-1].get("attributes") or {}).get("ask"):
        return None
    reply: Mapping[str, Any] = {}
    for one in reversed(before):
        if "active_skill" in one:
            reply = one
            continue
        said = str(one.get("text", ""))
        if is_courtesy(said) or is_worded_courtesy(said):
            continue
        annotations = one.get("annotations") or {}
        found = follow_up_of(annotations)
        question = " ".join((found.text if found else said).split())
        if not question or len(question) > LONGEST:
            return None
        entities = (
            *_entities((reply.get("attributes") or {}).get("entities")),
            *_entities((reply.get("annotations") or {}).get("entities")),
            *_entities(annotations.get("entities")),
        )
        text = " ".join(str(reply.get("text", ""))[:LONGEST].split())
        spoken = _spoken(annotations, question)
        language = (found and found.language) or spoken
        return LastTurn(question, text, entities[:MOST_ENTITIES], language, spoken)
    return None


def _spoken(annotations: Mapping[str, Any], question: str) -> str:
    """Return the language that was noticed, else that of the words."""
    noticed = annotations.get("language")
    if isinstance(noticed, dict) and noticed.get("by") != "default":
        code = noticed.get("code")
        if isinstance(code, str):
            return code
    found = language_of(question)
    return found.code if found else ""


def _entities(given: Any) -> Sequence[str]:
    """Return the texts of entities: a list of texts, or of objects with a `text`."""
    if not isinstance(given, list):
        return ()
    texts = (one.get("text") if isinstance(one, dict) else one for one in given)
    return [one.strip() for one in texts if isinstance(one, str) and one.strip()]
