"""Formatters of scripted skills: a common form of request, with the skill's state by its name."""

from __future__ import annotations

from functools import partial
from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import punctuate
from prolocutor.plugins.deeppavlov.formatters.cropping import (
    asks_again,
    crop,
    only_keys,
    recent,
    repeats,
)
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    NOTHING_EARLIER,
    EarlierDialog,
    State,
    named,
)

LISTS = ("human_utterances", "bot_utterances")
KEYS = ("text", "annotations", "active_skill", "user")
VOICE_KEYS = ("text", "annotations", "sound_path", "sound_duration", "sound_type", "caption")
WIKI_ANNOTATIONS = (
    "cobot_entities",
    "spacy_nounphrases",
    "entity_linking",
    "factoid_classification",
    "wiki_parser",
    "cobot_topics",
    "news_api_annotator",
)
LONGEST_PAUSE = 5  # human utterances, after which a skill no longer counts clarifications
PLAIN = (
    "animals art book book_sfc bot_persona coronavirus food friendship fromage_image funfact gaming"
    " generative gossip grounding movie music program_y program_y_dangerous program_y_wide science"
    " short_story sport template travel travel_italy user_kg weather"
).split()


def scripted(
    dialog: State,
    earlier: EarlierDialog = NOTHING_EARLIER,
    *,
    name: str,
    turns: int = 1,
    lists: tuple[str, ...] = LISTS,
    keys: tuple[str, ...] = KEYS,
    only: tuple[str, ...] | None = None,
) -> list[Any]:
    """Ask a scripted skill, with its state and the state shared by all scripted skills.

    `only` are the names of the annotations to show.
    """
    attributes = dialog["human"]["attributes"]
    index = earlier.human_utterances + len(dialog["human_utterances"]) - 1
    state = attributes.get(f"{name}_state", {})
    shared = attributes.get("dff_shared_state", {"cross_states": {}, "cross_links": {}})
    cropped = punctuate(crop(recent(dialog), turns))
    shown = {list_: [_select_keys(one, keys, only) for one in cropped[list_]] for list_ in lists}
    return [
        {
            "human_utter_index_batch": [index],
            "dialog_batch": [shown],
            f"{name}_state_batch": [state],
            "dff_shared_state_batch": [shared],
            "entities_batch": [attributes.get("entities", {})],
            "used_links_batch": [attributes.get("used_links", {})],
            "age_group_batch": [attributes.get("age_group", "")],
            "disliked_skills_batch": [attributes.get("disliked_skills", {})],
            "prompts_goals_batch": [attributes.get("prompts_goals", {})],
            "clarification_request_flag_batch": [_has_clarification(dialog, index, state)],
            "dialog_id_batch": [dialog["dialog_id"]],
        }
    ]


@named("dff_prompted_skill_formatter", turns=5, counts=True)
def prompted(
    dialog: State, earlier: EarlierDialog = NOTHING_EARLIER, *, skill_name: str | None = None
) -> list[Any]:
    """Ask a prompted skill, with five turns."""
    return scripted(
        dialog,
        earlier,
        name=str(skill_name),
        turns=5,
        lists=("utterances", *LISTS),
        keys=(*KEYS, "attributes"),
    )


def intents(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER, *, name: str) -> list[Any]:
    """Ask a skill that answers intents, with the intents of the last four turns."""
    [request] = scripted(dialog, earlier, name=name)
    heard = dialog["human_utterances"]
    called = dict.fromkeys(heard[-1]["annotations"].get("intent_catcher", {}), False)
    for one in heard[-5:-1]:
        for intent, found in one["annotations"].get("intent_catcher", {}).items():
            if found.get("detected"):
                called[intent] = True
    request["dialog_batch"][0]["called_intents"] = called
    request["dialog_batch"][0]["dialog_id"] = dialog["dialog_id"]
    return [request]


def _select_keys(utterance: State, keys: tuple[str, ...], only: tuple[str, ...] | None) -> State:
    shown = only_keys(utterance, keys)
    if only is not None:
        shown["annotations"] = only_keys(utterance["annotations"], only)
    return shown


def _has_clarification(dialog: State, index: int, state: State) -> bool:
    """Return whether a single clarification was asked for since the skill's last turn.

    As in DREAM each human utterance is paired with the reply before it, not the reply after it.
    """
    spoke = state.get("previous_human_utter_index", -1)
    pause = index - spoke
    if spoke == -1 or not 1 < pause <= LONGEST_PAUSE:
        return False
    heard, said = dialog["human_utterances"][-pause:], dialog["bot_utterances"][-pause:]
    pairs = zip(heard, said, strict=False)
    return sum(asks_again(human) and repeats(bot) for human, bot in pairs) == 1


def _add(name: str, format: Any = None, **arguments: Any) -> None:
    """Add the formatter of a skill."""
    made = partial(format or scripted, name=name, **arguments)
    named(f"{name}_formatter", turns=5, counts=True)(made)


for skill in PLAIN:
    _add(f"dff_{skill}_skill")
_add("dff_wiki_skill", only=WIKI_ANNOTATIONS)
_add("dff_voice_skill", keys=VOICE_KEYS)
_add("dff_intent_responder_skill", intents)
_add("dff_command_selector_skill", intents)
