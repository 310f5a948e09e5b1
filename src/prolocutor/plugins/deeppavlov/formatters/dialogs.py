"""Formatters that show a service the dialog itself."""

from __future__ import annotations

from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import punctuate, rewrite
from prolocutor.plugins.deeppavlov.formatters.cropping import crop, only_keys, recent, turns_window
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    NOTHING_EARLIER,
    DialogFormatter,
    EarlierDialog,
    State,
)

ENTITY_STORER_KEYS = ("text", "annotations", "active_skill", "user")


def full(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the whole dialog."""
    return [{"dialogs": [dialog]}]


def punctuated_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last five turns, punctuated."""
    return [{"dialogs": [punctuate(recent(dialog))]}]


def unpunctuated_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last five turns."""
    return [{"dialogs": [recent(dialog)]}]


def rewritten_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last five turns rewritten, and the skills that have spoken in the whole dialog."""
    shown = rewrite(recent(dialog))
    return [{"dialogs": [shown], "all_prev_active_skills": [active_skills(dialog, earlier)]}]


def short_rewritten_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last two turns, rewritten."""
    return [{"dialogs": [rewrite(recent(dialog, 2))]}]


def long_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last ten turns, punctuated, and the last fifteen skills that have spoken."""
    skills = active_skills(dialog, earlier)[-15:]
    return [{"dialogs": [punctuate(crop(dialog, 10))], "all_prev_active_skills": [skills]}]


def skill_selector_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show a skill selector the last five turns, punctuated."""
    return [{"states_batch": [punctuate(recent(dialog))]}]


def game_dialog(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Show the last five turns, and only the human attributes of games."""
    shown = punctuate(recent(dialog))
    attributes = shown["human"]["attributes"]
    kept = {key: attributes.get(key, {}) for key in ("game_cooperative_skill", "used_links")}
    shown["human"] = {**shown["human"], "attributes": kept}
    return [{"dialogs": [shown]}]


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


DIALOG_FORMATTERS = (
    DialogFormatter("full_dialog", full, window=None, hypotheses=True),
    DialogFormatter(
        "cropped_dialog", punctuated_dialog, turns_window(5), repeats=True, hypotheses=True
    ),
    DialogFormatter(
        "utt_sentseg_punct_dialog",
        punctuated_dialog,
        turns_window(5),
        repeats=True,
        hypotheses=True,
    ),
    DialogFormatter(
        "utt_non_punct_dialog", unpunctuated_dialog, turns_window(5), repeats=True, hypotheses=True
    ),
    DialogFormatter(
        "utt_sentrewrite_modified_last_dialog",
        rewritten_dialog,
        turns_window(5),
        repeats=True,
        hypotheses=True,
        skills=True,
    ),
    DialogFormatter(
        "utt_sentrewrite_modified_last_dialog_emotion_skill",
        short_rewritten_dialog,
        turns_window(2),
        repeats=True,
        hypotheses=True,
    ),
    DialogFormatter(
        "full_history_dialog",
        long_dialog,
        turns_window(10),
        repeats=True,
        hypotheses=True,
        skills=True,
    ),
    DialogFormatter(
        "base_skill_selector_formatter_dialog",
        skill_selector_dialog,
        turns_window(5),
        repeats=True,
        hypotheses=True,
    ),
    DialogFormatter(
        "game_cooperative_skill_formatter",
        game_dialog,
        turns_window(5),
        repeats=True,
        hypotheses=True,
    ),
    DialogFormatter(
        "entity_storer_formatter", stored_entities, turns_window(5), repeats=True, counts=True
    ),
)
