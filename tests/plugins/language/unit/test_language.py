"""The language of an utterance: by its words, the person's attribute, or the dialog."""

from typing import Any

import pytest

from prolocutor.plugins.language.language import notice
from prolocutor.reading.languages import language_of


def request(*texts: str, **attributes: str) -> dict[str, Any]:
    said: list[dict[str, Any]] = [{"text": text, "annotations": {}} for text in texts]
    for utterance in said[:-1]:
        earlier = {"human": {}, "human_utterances": [utterance]}
        utterance["annotations"]["language"] = notice(earlier)
    return {"human": {"attributes": attributes}, "human_utterances": said}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Wie spät ist es?", "de"),
        ("quelle heure est-il à Paris", "fr"),
        ("¿Cuánto es 12 por 8?", "es"),
        ("what time is it in Paris?", "en"),
        ("roll a die", "en"),
        ("um no seven", "en"),
        ("um acht Uhr wecken", "de"),
        ("wie spat ist es", "de"),
        ("cuanta gente vive en japon", "es"),
        ("cest quoi", "fr"),
        ("no, Canadian dollars", None),
        ("6 am", None),
        ("apunta velas", "es"),
        ("halbiere es", "de"),
        ("t'as raison", "fr"),
        ("change nappies", None),
        ("bring candles", None),
        ("12 * 8", None),
        ("ok", None),
        ("Paris?", None),
        ("", None),
        ("日本語", None),
    ],
)
def test_words_and_letters_tell_the_language_or_nothing(text: str, code: str | None) -> None:
    found = language_of(text)
    assert (found.code if found else None) == code


def test_what_does_not_tell_keeps_the_language_of_the_dialog() -> None:
    assert notice(request("Wie spät ist es?", "12 * 8"))["code"] == "de"
    assert notice(request("Wie spät ist es?", "what is the time", "ok"))["code"] == "en"
    assert notice(request("what is the time", "bin bags and tape"))["code"] == "en"
    assert notice(request("what is the time", "danke"))["code"] == "de"
    assert notice(request("ok")) == {"code": "en", "confidence": 0.5, "by": "default"}


def test_a_wish_for_a_language_is_one() -> None:
    assert notice(request("Wie spät ist es?", "in english pls"))["code"] == "en"
    assert notice(request("auf Deutsch bitte: what is this"))["code"] == "de"
    assert notice(request("auf Deutsch, bitte")) == {"code": "de", "confidence": 1.0, "by": "wish"}
    assert notice(request("how is German spoken in Spain"))["by"] == "words"


def test_the_attribute_of_the_person_wins() -> None:
    assert notice(request("what time is it", language="fr-CA"))["code"] == "fr"
    assert notice(request("Wie spät ist es?", language="?"))["code"] == "de"
