"""Annotator: the language of an utterance, for agents that answer in several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from prolocutor.plugins.language.language_wishes import wished_language, without_wish
from prolocutor.reading.languages import language_of_request, tells_surely

DEFAULT: Final = "en"


def notice(request: dict[str, Any]) -> dict[str, Any]:
    """Annotate an utterance: `{"code": "de", "confidence": 0.9, "by": "words"}`.

    The attribute `language` of the person wins ("attribute"), then a wish for a language ("in
    English, please": "wish"), then the words. Words of no language ("12 * 8", "ok") have the
    language of the person's earlier words ("dialog"), else English ("default"). So have words of
    which only one, of several, tells another language than the earlier ones.
    """
    human = request.get("human")
    attributes = human.get("attributes") if isinstance(human, dict) else None
    chosen = attributes.get("language") if isinstance(attributes, dict) else None
    if isinstance(chosen, str) and chosen[:2].isalpha():
        return {"code": chosen[:2].lower(), "confidence": 1.0, "by": "attribute"}
    *earlier, last = request["human_utterances"]
    text = last.get("text")
    wished = (wished_language(text) or without_wish(text)[1]) if isinstance(text, str) else ""
    if wished:
        return {"code": wished, "confidence": 1.0, "by": "wish"}
    found = language_of_request(text) if isinstance(text, str) else None
    before = next((code for one in reversed(earlier) if (code := _noticed_code(one))), None)
    if found is not None and (before in (None, found.code) or tells_surely(text, found.code)):
        return {"code": found.code, "confidence": found.confidence, "by": "words"}
    if before is not None:
        return {"code": before, "confidence": 0.5, "by": "dialog"}
    return {"code": DEFAULT, "confidence": 0.5, "by": "default"}


def _noticed_code(utterance: Mapping[str, Any]) -> str | None:
    annotation = (utterance.get("annotations") or {}).get("language")
    code = annotation.get("code") if isinstance(annotation, dict) else None
    return code if isinstance(code, str) else None
