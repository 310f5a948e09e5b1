"""Formatters that ask about all hypotheses of the turn in one request."""

from __future__ import annotations

from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import segment, texts
from prolocutor.plugins.deeppavlov.formatters.cropping import newest_utterance, recent, turns_window
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    NOTHING_EARLIER,
    DialogFormatter,
    EarlierDialog,
    State,
)


def hypothesis_texts(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask about the texts."""
    return [{"sentences": texts(_hypotheses(dialog))}]


def hypotheses_and_text(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask about the texts, each with the human's."""
    hypotheses = _hypotheses(dialog)
    heard = [newest_utterance(dialog)["text"]] * len(hypotheses)
    return [{"sentences": texts(hypotheses), "last_human_utterances": heard}]


def hypotheses_and_history(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask about the texts, each after the last five turns."""
    history = [" ".join(utterance["text"]) for utterance in segment(recent(dialog))["utterances"]]
    rows = [[*history, text] for text in texts(_hypotheses(dialog))]
    return [{"utterances_with_histories": rows}]


def sentence_pairs(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask how well each text answers the human's."""
    heard = newest_utterance(dialog)["text"]
    return [{"sentence_pairs": [[heard, text] for text in texts(_hypotheses(dialog))]}]


def contexts_and_hypotheses(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask about the texts, each with the human's as its context."""
    hypotheses = _hypotheses(dialog)
    heard = [newest_utterance(dialog)["text"]] * len(hypotheses)
    return [{"dialog_contexts": heard, "hypotheses": texts(hypotheses)}]


def evaluated_hypotheses(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
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


def hypothesis_speech_functions(
    dialog: State, earlier: EarlierDialog = NOTHING_EARLIER
) -> list[Any]:
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


def next_speech_functions(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask for each hypothesis, in a request of its own, which speech function may follow."""
    return [
        hypothesis.get("annotations", {}).get("speech_function_classifier", [""])
        for hypothesis in _hypotheses(dialog)
    ]


def hypotheses_in_mood(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
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


HYPOTHESIS_FORMATTERS = (
    DialogFormatter("hypotheses_list", hypothesis_texts),
    DialogFormatter("hypotheses_list_last_uttr", hypotheses_and_text),
    DialogFormatter(
        "hypothesis_histories_list", hypotheses_and_history, turns_window(5), repeats=True
    ),
    DialogFormatter("sentence_ranker_formatter", sentence_pairs),
    DialogFormatter("hypotheses_with_context_list", contexts_and_hypotheses),
    DialogFormatter(
        "convers_evaluator_annotator_formatter",
        evaluated_hypotheses,
        turns_window(5),
        repeats=True,
    ),
    DialogFormatter("speech_function_hypotheses_formatter", hypothesis_speech_functions),
    DialogFormatter("speech_function_hypotheses_predictor_formatter", next_speech_functions),
    DialogFormatter("bot_mood_emotion_formatter", hypotheses_in_mood, window=2),
)
