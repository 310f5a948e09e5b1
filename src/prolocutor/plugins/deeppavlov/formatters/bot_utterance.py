"""Formatters that ask about the bot utterance before the new human one.

A dialog's first turn has no bot utterance, and the services are asked all the same.
"""

from __future__ import annotations

from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import segment, segments, texts
from prolocutor.plugins.deeppavlov.formatters.cropping import recent
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    State,
    named,
)
from prolocutor.plugins.deeppavlov.formatters.entities import entity_tags, labelled_entities


@named("last_bot_utt_dialog", window=2)
def bot_text(dialog: State) -> list[Any]:
    """Ask about the text."""
    return [{"sentences": [_text(dialog)]}]


@named("ner_formatter_last_bot_dialog", window=2)
def bot_last_utterances(dialog: State) -> list[Any]:
    """Ask for names in the sentences of the text."""
    bot_utterances = dialog["bot_utterances"]
    return [{"last_utterances": [segments(bot_utterances[-1]) if bot_utterances else [""]]}]


@named("sent_rewrite_formatter_w_o_last_dialog", turns=6)
def bot_history(dialog: State) -> list[Any]:
    """Ask to rewrite the bot utterance, as the last of up to six turns."""
    said = segment(recent(dialog, 6))["utterances"][:-1]
    return [
        {
            "utterances_histories": [texts(said)],
            "annotation_histories": [[one["annotations"] for one in said]],
        }
    ]


@named("entity_detection_formatter_last_bot_dialog", window=2)
def bot_sentences(dialog: State) -> list[Any]:
    """Ask for entities in the text."""
    return [{"sentences": [[_text(dialog)]]}]


@named("el_formatter_last_bot_dialog", window=2)
def bot_entities(dialog: State) -> list[Any]:
    """Ask for the entities of the text."""
    bot_utterances = dialog["bot_utterances"]
    if not bot_utterances:
        return [{"entity_substr": [[""]], "entity_tags": [[""]], "contexts": [[""]]}]
    names, tags = entity_tags(bot_utterances[-1])
    return [
        {
            "entity_substr": [names],
            "entity_tags": [tags],
            "contexts": [[bot_utterances[-1]["text"]]],
        }
    ]


@named("custom_el_formatter_last_bot_dialog", window=2)
def bot_entities_of_user(dialog: State) -> list[Any]:
    """Ask for the entities of the text, including the bot's own."""
    bot_utterances = dialog["bot_utterances"]
    [request] = bot_entities(dialog)
    extracted = (
        bot_utterances[-1]["annotations"].get("property_extraction", {}) if bot_utterances else {}
    )
    request["user_id"] = [str(bot_utterances[-1]["user"]["id"]) if bot_utterances else ""]
    request["property_extraction"] = [extracted]
    return [request]


@named("property_extraction_formatter_last_bot_dialog", window=2)
def bot_properties(dialog: State) -> list[Any]:
    """Ask for the text's statements about the bot, with its entities."""
    bot_utterances = dialog["bot_utterances"]
    annotations = bot_utterances[-1]["annotations"] if bot_utterances else {}
    return [
        {
            "utterances": [[_text(dialog)]],
            "entities_with_labels": [
                labelled_entities(bot_utterances[-1]) if bot_utterances else []
            ],
            "named_entities": [annotations.get("ner", [{}])],
            "entity_info": [annotations.get("entity_linking", [{}])],
        }
    ]


@named("bot_knowledge_memorizer_formatter_last_bot_dialog", window=2)
def bot_knowledge(dialog: State) -> list[Any]:
    """Show the bot utterance and the new human one."""
    bot_utterances = dialog["bot_utterances"]
    return [
        {
            "utterances": [bot_utterances[-1] if bot_utterances else []],
            "human_utterances": [dialog["human_utterances"][-1]],
        }
    ]


@named("speech_function_bot_formatter", window=3)
def bot_speech_function(dialog: State) -> list[Any]:
    """Ask for the speech function of the text as an answer to the human's before it."""
    heard, said = dialog["human_utterances"], dialog["bot_utterances"]
    if len(heard) < 2 or not said:
        return [{"phrases": [""], "prev_phrases": [""], "prev_speech_functions": [""]}]
    before = heard[-2]
    return [
        {
            "phrases": [said[-1]["text"]],
            "prev_phrases": [before["text"]],
            "prev_speech_functions": [before["annotations"].get("speech_function_classifier", "")],
        }
    ]


def _text(dialog: State) -> Any:
    bot_utterances = dialog["bot_utterances"]
    return bot_utterances[-1]["text"] if bot_utterances else ""
