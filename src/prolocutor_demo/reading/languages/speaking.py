"""Speaking: an agent of English, wrapped so that it answers in the language of the utterance."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from prolocutor_demo.reading.asking import (
    Lack,
    answered,
    lacking,
    open_question,
    with_question,
)
from prolocutor_demo.reading.courtesy import bare, orders_nothing
from prolocutor_demo.reading.languages.messages import ENGLISH_ONLY, JOKES_ENGLISH_ONLY
from prolocutor_demo.reading.languages.names import LANGUAGES
from prolocutor_demo.reading.languages.orders import denies_order
from prolocutor_demo.reading.languages.said import message_in, said_in
from prolocutor_demo.reading.request import text_of
from prolocutor_demo.reading.utterance import (
    ENGLISH,
    attributes_of,
    language_of,
    last_utterance,
)

NOTED = "told_english_only"
"""The attribute that holds the languages in which the note on English was given."""

NOT_ORDERED = "All right, I leave it as it is."
"""The reply to an order that is denied."""

Answer = Callable[[dict[str, Any]], Any]


def in_language(answer: Answer, *, instead: str = "", lacks: Sequence[Lack] = ()) -> Answer:
    """Return an agent that answers in the language that the request is annotated with.

    What the catalogue has no words for stays English; a note in the person's language precedes it,
    the first time only. `instead` is said in place of any sure answer in another language. What a
    request in English lacks (`lacks`) is asked for.
    """

    @functools.wraps(answer)
    def in_their_language(request: dict[str, Any]) -> Any:
        asked = None if "function" in request else open_question(request)
        replies = answer(request) if asked is None else answered(answer, request, *asked)
        if "function" in request or not isinstance(replies, list):
            return replies
        code = language_of(request)
        if any(one.keys() & _OF_ORDERS for one in replies) and _is_denied(code, request):
            replies = [{"text": NOT_ORDERED, "confidence": _ORDERS_NOTHING}]
        if lacks and asked is None and code == ENGLISH and _declines(replies):
            words = bare(text_of(request)).rstrip(" ?.!:…")
            replies = lacking(answer, request, words, lacks) or replies
        return [with_question(_spoken(code, one, request, instead), code) for one in replies]

    return in_their_language


def _is_denied(code: str, request: dict[str, Any]) -> bool:
    """Return whether the words of a request deny an order or only suppose it."""
    said = str(last_utterance(request).get("text"))
    return orders_nothing(said) or (code in LANGUAGES and denies_order(code, said))


def _declines(replies: list[dict[str, Any]]) -> bool:
    return not replies or replies[0].get("confidence", 0) < _SURE


def jokes_in_language(answer: Answer) -> Answer:
    """Return the agent of jokes, which declines in other languages."""
    return in_language(answer, instead=JOKES_ENGLISH_ONLY)


def _spoken(
    code: str, reply: dict[str, Any], request: dict[str, Any], instead: str
) -> dict[str, Any]:
    text = reply.get("text")
    if code not in LANGUAGES or not isinstance(text, str) or not text:
        return reply
    if reply.get("confidence", 0) < _DECLINES:
        return reply
    if instead and reply["confidence"] >= _SURE:
        return {**reply, "text": message_in(code, instead)}
    translated = said_in(code, text)
    if translated is not None:
        return {**reply, "text": translated}
    noted = attributes_of(request).get(NOTED)
    known = [one for one in noted if isinstance(one, str)] if isinstance(noted, list) else []
    if code in known:
        return reply
    attributes = {**(reply.get("human_attributes") or {}), NOTED: [*known, code]}
    text = f"{message_in(code, ENGLISH_ONLY)} {text}"
    return {**reply, "text": text, "human_attributes": attributes}


_OF_ORDERS = frozenset({"human_attributes", "ask"})
"""What a reply to an order has: what it has done, or what it asks for."""

_ORDERS_NOTHING = 0.7
_DECLINES = 0.15
_SURE = 0.5
