"""Texts of utterances as annotators have corrected, cut or rewritten them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import State


def spelling_text(utterance: State) -> Any:
    """Return the text with its spelling corrected, else the text."""
    return utterance["annotations"].get("spelling_preprocessing", utterance["text"])


def segments(utterance: State) -> Any:
    """Return the sentences of the text; without annotations the text as the only sentence."""
    found = utterance["annotations"].get("sentseg")
    return found["segments"] if found and "segments" in found else [utterance["text"]]


def texts(utterances: list[State]) -> list[Any]:
    """Return the text of each utterance."""
    return [utterance["text"] for utterance in utterances]


def punctuate(dialog: State) -> State:
    """Return the dialog with the texts of `utterances` and `human_utterances` punctuated."""
    return _retold(dialog, _punctuated_text, ("utterances", "human_utterances"))


def segment(dialog: State) -> State:
    """Return the dialog with each text as a list of sentences."""
    return _retold(dialog, segments, ("utterances", "human_utterances", "bot_utterances"))


def rewrite(dialog: State) -> State:
    """Return the dialog with pronouns replaced in `utterances` and `human_utterances`."""
    return _retold(dialog, _rewritten_text, ("utterances", "human_utterances"))


def _retold(dialog: State, text_of: Callable[[State], Any], lists: tuple[str, ...]) -> State:
    """Return the dialog with changed texts in some lists; the old texts are in `orig_text`."""
    changed = dict(dialog)
    for name in lists:
        changed[name] = [
            {**one, "orig_text": one["text"], "text": text_of(one)} for one in dialog[name]
        ]
    return changed


def _punctuated_text(utterance: State) -> Any:
    found = utterance["annotations"].get("sentseg")
    return found["punct_sent"] if found and "punct_sent" in found else utterance["text"]


def _rewritten_text(utterance: State) -> Any:
    sentences = utterance["annotations"].get("sentrewrite", {}).get("modified_sents")
    return sentences[-1] if sentences else _punctuated_text(utterance)
