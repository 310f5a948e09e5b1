"""Reads the parts of a request: the last utterance, its language, the user's attributes."""

from typing import Any

ENGLISH = "en"


def last_utterance(request: dict[str, Any]) -> dict[str, Any]:
    """Return the last utterance of the user; {} if there is none."""
    utterances = request.get("human_utterances")
    last = utterances[-1] if isinstance(utterances, list) and utterances else None
    return last if isinstance(last, dict) else {}


def attributes_of(request: dict[str, Any]) -> dict[str, Any]:
    """Return the user's attributes; {} if there are none."""
    human = request.get("human")
    attributes = human.get("attributes") if isinstance(human, dict) else None
    return attributes if isinstance(attributes, dict) else {}


def language_of(request: dict[str, Any]) -> str:
    """Return the language that the last text is annotated with, as `{"code": "de"}`; else "en"."""
    code = _annotation(request, "language").get("code")
    return code if isinstance(code, str) else ENGLISH


def language_is_guessed(request: dict[str, Any]) -> bool:
    """Whether nothing told the language: neither the person, nor the words, nor the dialog."""
    return _annotation(request, "language").get("by") == "default"


def language_meant(request: dict[str, Any]) -> str:
    """Return the language of the question that a follow-up means, where it is another one."""
    code = _annotation(request, "follow_up").get("language")
    return code if isinstance(code, str) else ""


def mended_words(request: dict[str, Any]) -> str:
    """Return the last text in the agents' spelling where it differs; else ""."""
    words = _annotation(request, "follow_up").get("normalized")
    return words if isinstance(words, str) else ""


def words_of_follow_up(request: dict[str, Any]) -> str:
    """Return the words of the user if the last text is the meaning of a follow-up; else ""."""
    last = last_utterance(request)
    words = last.get("orig_text")
    return words.strip() if isinstance(words, str) and words != last.get("text") else ""


def is_correction(request: dict[str, Any]) -> bool:
    """Whether the user takes back what the last turn did, to say something in its place or not."""
    return _annotation(request, "follow_up").get("corrects") is True


def id_before(request: dict[str, Any]) -> str:
    """Return the id of what the user said before the last text; "" if it is not known."""
    utterances = request.get("human_utterances")
    before = utterances[-2] if isinstance(utterances, list) and len(utterances) > 1 else None
    return _id(before)


def id_of(request: dict[str, Any]) -> str:
    """Return the id of what the user said last; "" if it is not known."""
    return _id(last_utterance(request))


def _id(utterance: Any) -> str:
    id_ = utterance.get("utt_id") if isinstance(utterance, dict) else None
    return id_[:40] if isinstance(id_, str) else ""


def _annotation(request: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an annotation of the last text; {} if there is none."""
    annotations = last_utterance(request).get("annotations")
    found = annotations.get(name) if isinstance(annotations, dict) else None
    return found if isinstance(found, dict) else {}
