"""Formatters about all hypotheses of the turn in a single request."""

from __future__ import annotations

from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import segment, texts
from prolocutor.plugins.deeppavlov.formatters.cropping import newest_utterance, recent
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    State,
    named,
)


@named("hypotheses_list")
def hypothesis_texts(dialog: State) -> list[Any]:
    """Ask about the texts."""
    return [{"sentences": texts(_hypotheses(dialog))}]


@named("hypotheses_list_last_uttr")
def hypotheses_and_text(dialog: State) -> list[Any]:
    """Ask about the texts, each with the human's."""
    hypotheses = _hypotheses(dialog)
    heard = [newest_utterance(dialog)["text"]] * len(hypotheses)
    return [{"sentences": texts(hypotheses), "last_human_utterances": heard}]


@named("hypothesis_histories_list", turns=5)
def hypotheses_and_history(dialog: State) -> list[Any]:
    """Ask about the texts, each after the last five turns."""
    history = [" ".join(utterance["text"]) for utterance in segment(recent(dialog))["utterances"]]
    rows = [[*history, text] for text in texts(_hypotheses(dialog))]
    return [{"utterances_with_histories": rows}]


@named("sentence_ranker_formatter")
def sentence_pairs(dialog: State) -> list[Any]:
    """Ask how well each text answers the human's."""
    heard = newest_utterance(dialog)["text"]
    return [{"sentence_pairs": [[heard, text] for text in texts(_hypotheses(dialog))]}]


@named("hypotheses_with_context_list")
def contexts_and_hypotheses(dialog: State) -> list[Any]:
    """Ask about the texts, each with the human's as its context."""
    hypotheses = _hypotheses(dialog)
    heard = [newest_utterance(dialog)["text"]] * len(hypotheses)
    return [{"dialog_contexts": heard, "hypotheses": texts(hypotheses)}]


@named("convers_evaluator_annotator_formatter", turns=5)
def evaluated_hypotheses(dialog: State) -> list[Any]:
    """Ask how good the texts are, with two turns before them."""
    shown = recent(dialog)
    return [
        {
            "hypotheses": texts(_hypotheses(shown)),
            "currentUtterance": newest_utterance(shown)["text"],
            "pastUtterances": texts(shown["human_utterances"][-3:-1]),
            "pastResponses": texts(shown["bot_utterances"][-2:]),
        }
    ]


@named("speech_function_hypotheses_formatter")
def hypothesis_speech_functions(dialog: State) -> list[Any]:
    """Ask for the speech function of each text as an answer to the human's."""
    hypotheses, newest = _hypotheses(dialog), newest_utterance(dialog)
    before = newest["annotations"].get("speech_function_classifier", "")
    return [
        {
            "phrases": texts(hypotheses),
            "prev_phrases": [newest["text"]] * len(hypotheses),
            "prev_speech_functions": [before] * len(hypotheses),
        }
    ]


@named("speech_function_hypotheses_predictor_formatter")
def next_speech_functions(dialog: State) -> list[Any]:
    """Ask for each hypothesis, in a request of its own, which speech function may follow."""
    return [
        hypothesis.get("annotations", {}).get("speech_function_classifier", [""])
        for hypothesis in _hypotheses(dialog)
    ]


@named("bot_mood_emotion_formatter", window=2)
def hypotheses_in_mood(dialog: State) -> list[Any]:
    """Ask to say the texts in the bot's mood."""
    hypotheses, said = _hypotheses(dialog), dialog["bot_utterances"]
    felt = said[-1]["annotations"].get("bot_emotion_classifier", {}) if said else {}
    return [
        {
            "sentences": texts(hypotheses),
            "bot_mood_labels": [felt.get("bot_mood_label", "happy")] * len(hypotheses),
            "bot_emotions": [felt.get("bot_emotion", "neutral")] * len(hypotheses),
        }
    ]


def _hypotheses(dialog: State) -> list[State]:
    hypotheses: list[State] = newest_utterance(dialog).get("hypotheses", [])
    return hypotheses
