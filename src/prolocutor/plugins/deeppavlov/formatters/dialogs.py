"""Formatters that show a service the dialog itself."""

from __future__ import annotations

from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import punctuate, rewrite
from prolocutor.plugins.deeppavlov.formatters.cropping import crop, only_keys, recent
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    NOTHING_EARLIER,
    EarlierDialog,
    State,
    named,
)

ENTITY_STORER_KEYS = ("text", "annotations", "active_skill", "user")


@named("full_dialog", window=None, hypotheses=True)
def full(dialog: State) -> list[Any]:
    """Show the whole dialog."""
    return [{"dialogs": [dialog]}]


@named("cropped_dialog", turns=5, hypotheses=True)
@named("utt_sentseg_punct_dialog", turns=5, hypotheses=True)
def punctuated_dialog(dialog: State) -> list[Any]:
    """Show the last five turns, punctuated."""
    return [{"dialogs": [punctuate(recent(dialog))]}]


@named("utt_non_punct_dialog", turns=5, hypotheses=True)
def unpunctuated_dialog(dialog: State) -> list[Any]:
    """Show the last five turns."""
    return [{"dialogs": [recent(dialog)]}]


@named("utt_sentrewrite_modified_last_dialog", turns=5, hypotheses=True, skills=True)
def rewritten_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last five turns rewritten, and the skills that have spoken in the whole dialog."""
    shown = rewrite(recent(dialog))
    return [{"dialogs": [shown], "all_prev_active_skills": [active_skills(dialog, earlier)]}]


@named("utt_sentrewrite_modified_last_dialog_emotion_skill", turns=2, hypotheses=True)
def short_rewritten_dialog(dialog: State) -> list[Any]:
    """Show the last two turns, rewritten."""
    return [{"dialogs": [rewrite(recent(dialog, 2))]}]


@named("full_history_dialog", turns=10, hypotheses=True, skills=True)
def long_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last ten turns, punctuated, and the last fifteen skills that have spoken."""
    skills = active_skills(dialog, earlier)[-15:]
    return [{"dialogs": [punctuate(crop(dialog, 10))], "all_prev_active_skills": [skills]}]


@named("base_skill_selector_formatter_dialog", turns=5, hypotheses=True)
def skill_selector_dialog(dialog: State) -> list[Any]:
    """Show a skill selector the last five turns, punctuated."""
    return [{"states_batch": [punctuate(recent(dialog))]}]


@named("game_cooperative_skill_formatter", turns=5, hypotheses=True)
def game_dialog(dialog: State) -> list[Any]:
    """Show the last five turns, and only the human attributes of games."""
    shown = punctuate(recent(dialog))
    attributes = shown["human"]["attributes"]
    kept = {key: attributes.get(key, {}) for key in ("game_cooperative_skill", "used_links")}
    shown["human"] = {**shown["human"], "attributes": kept}
    return [{"dialogs": [shown]}]


@named("entity_storer_formatter", turns=5, counts=True)
def stored_entities(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last five turns with the entities known of the human."""
    cropped = punctuate(crop(dialog))
    shown: State = {
        name: [only_keys(one, ENTITY_STORER_KEYS) for one in cropped[name]]
        for name in ("human_utterances", "bot_utterances")
    }
    entities = dialog["human"]["attributes"].get("entities", {})
    shown["human"] = {"attributes": {"entities": entities}}
    index = earlier.human_utterances + len(dialog["human_utterances"]) - 1
    return [{"human_utter_indexes": [index], "dialogs": [shown]}]


def active_skills(dialog: State, earlier: EarlierDialog) -> list[str]:
    """Return the skills of the whole dialog's bot utterances."""
    skills = [
        *earlier.active_skills,
        *(utterance["active_skill"] for utterance in dialog["bot_utterances"]),
    ]
    return [skill for skill in skills if skill]
