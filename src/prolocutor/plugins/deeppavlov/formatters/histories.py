"""Formatters for prompts, summaries and skills over the last texts."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import (
    punctuate,
    segment,
    spelling_text,
    texts,
)
from prolocutor.plugins.deeppavlov.formatters.cropping import crop, is_bot, recent
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    NOTHING_EARLIER,
    EarlierDialog,
    State,
    named,
)

SUMMARY_EVERY = 6  # utterances between two summaries
SUMMARY_OVERLAP = 5  # earlier utterances read again by a summary


@named("context_formatter_dialog", window=4)
def context(dialog: State) -> list[Any]:
    """Ask for prompts that fit the last four texts."""
    shown = punctuate({**dialog, "utterances": dialog["utterances"][-4:]})
    goals = dialog["human"]["attributes"].get("prompts_goals", {})
    return [{"contexts": [texts(shown["utterances"])], "prompts_goals": [goals]}]


@named("prompts_goals_collector_formatter", window=3, hypotheses=True)
def prompts_goals(dialog: State) -> list[Any]:
    """Ask to collect the goals given by the preceding turn's hypotheses."""
    heard = dialog["human_utterances"]
    goals: State = {}
    for hypothesis in heard[-2].get("hypotheses", ()) if len(heard) > 1 else ():
        goals.update(hypothesis.get("prompts_goals") or {})
    return [{"prompts_goals": [goals], "human_attributes": [dialog["human"]["attributes"]]}]


@named("summarization_annotator_formatter", window=SUMMARY_EVERY + SUMMARY_OVERLAP, counts=True)
def summary(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask for a summary of the utterances since the last summary."""
    bot_utterances = dialog["bot_utterances"]
    length = earlier.utterances + len(dialog["utterances"])
    new = (length + 1) % SUMMARY_EVERY or SUMMARY_EVERY
    attributes = bot_utterances[-1]["user"]["attributes"] if bot_utterances else {}
    return [
        {
            "dialogs": [texts(dialog["utterances"][-(new + SUMMARY_OVERLAP) :])],
            "previous_summaries": [attributes.get("summarized_dialog") or ""],
        }
    ]


@named("topic_recommendation_formatter", turns=5)
def topics(dialog: State) -> list[Any]:
    """Ask for topics, by the skills and the topics of the last five turns."""
    utterances = recent(dialog)["utterances"]
    found: list[Any] = []
    for utterance in utterances:
        found += utterance["annotations"].get("cobot_topics", {}).get("text", [])
    skills = [
        utterance["active_skill"] for utterance in utterances if utterance.get("active_skill")
    ]
    return [{"active_skills": [skills], "cobot_topics": [found]}]


@named("convert_formatter_dialog", turns=20)
def retrieval_history(dialog: State) -> list[Any]:
    """Ask for a reply that fits twenty turns and the bot's persona."""
    newest_first = reversed(recent(dialog)["bot_utterances"])
    ongoing = takewhile(lambda one: one["active_skill"] == "convert_reddit", newest_first)
    cropped = crop(dialog, 20)
    return [
        {
            "utterances_histories": [texts(cropped["utterances"])],
            "personality": [cropped["bot"]["persona"]],
            "num_ongoing_utt": [sum(1 for _ in ongoing)],
            "human_attributes": [cropped["human"]["attributes"]],
        }
    ]


@named("eliza_formatter_dialog", turns=5)
def eliza(dialog: State) -> list[Any]:
    """Ask for a reply, with the texts already answered by Eliza."""
    shown = recent(dialog)
    utterances = shown["utterances"]
    answered = [
        spelling_text(before)
        for before, one in pairwise(utterances)
        if is_bot(one) and one["active_skill"] == "eliza" and not is_bot(before)
    ]
    newest = spelling_text(shown["human_utterances"][-1])
    return [{"last_utterance_batch": [newest], "human_utterance_history_batch": [answered]}]


@named("persona_bot_formatter", turns=5)
def persona_history(dialog: State) -> list[Any]:
    """Ask for a reply to the last three texts."""
    shown = punctuate(recent(dialog))
    return [
        {
            "utterances_histories": [texts(shown["utterances"][-3:])],
            "last_annotated_utterances": [shown["human_utterances"][-1]],
        }
    ]


@named("sent_rewrite_formatter_dialog", turns=5)
def rewriting_history(dialog: State) -> list[Any]:
    """Ask to rewrite the last five turns."""
    utterances = segment(recent(dialog))["utterances"]
    return [
        {
            "utterances_histories": [texts(utterances)],
            "annotation_histories": [[utterance["annotations"] for utterance in utterances]],
        }
    ]


@named("fromage_formatter", turns=5)
def image(dialog: State) -> list[Any]:
    """Ask about the newest image of the last five human utterances."""
    heard = recent(dialog)["human_utterances"]
    paths = (one.get("attributes", {}).get("image") for one in reversed(heard[-5:]))
    found = (path for path in paths if isinstance(path, str) and path.startswith("http"))
    return [{"sentences": [heard[-1]["text"]], "image_paths": [next(found, None)]}]
