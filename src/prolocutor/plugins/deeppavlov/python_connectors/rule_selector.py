"""The skill selector of scripted pipelines: commands, intents, and skills for any topic or one.

Every skill of the pipeline that has no rule here or in `topic_rules` is asked whatever is said:
more calls, never fewer answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import (
    COMMANDS,
    HIGH_PRIORITY,
    State,
    chosen_by_client,
    detected_intents,
    is_factoid,
    is_question,
    is_sensitive_request,
    means_what_it_says,
    previous_skill,
    prompted_skills,
    skills_of,
    without_doubles,
)
from prolocutor.plugins.deeppavlov.python_connectors.topic_rules import has_rule, topical_skills

GENERAL = (
    "dff_grounding_skill dff_program_y_skill personal_info_skill meta_script_skill dummy_skill"
    " dialogpt dialogpt_persona_based seq2seq_persona_based small_talk_skill"
    " knowledge_grounding_skill convert_reddit comet_dialog_skill dff_program_y_wide_skill"
    " dff_generative_skill gpt2_generator faq_skill_deepy dff_reasoning_skill"
).split()
ON_DEMAND = frozenset(
    "personality_catcher dff_intent_responder_skill dff_command_selector_skill misheard_asr"
    " alexa_handler dff_google_api_skill dff_image_skill dff_fromage_image_skill dff_voice_skill"
    " dff_friendship_skill".split()
)
SAFE = (
    "dff_program_y_dangerous_skill meta_script_skill personal_info_skill factoid_qa"
    " dff_grounding_skill dff_generative_skill dummy_skill small_talk_skill"
).split()
"""Skills that speak of anything without an opinion."""
LOW_PRIORITY = frozenset(("dont_understand", "what_time", "choose_topic"))
SHORT_DIALOG = 20  # utterances, under which the skill for acquaintance is asked


class RuleBasedSelector:
    """Names the skills for commands and intents, else those for any topic."""

    def __init__(self, environment: DreamEnvironment) -> None:
        self._environment = environment

    def __call__(self, task: Any) -> Any:
        """Return labels, [] for all skills; two that answer anything in an unreadable dialog."""
        try:
            return without_doubles(self._select(task["states_batch"][0]))
        except Exception:
            return ["dff_program_y_skill", "dummy_skill"]

    def _select(self, dialog: State) -> list[str | None]:
        heard = dialog["human_utterances"]
        newest = heard[-1]
        chosen = [] if self._environment.all_skills else chosen_by_client(newest)
        if chosen is not None:
            return list(chosen)
        if "/alexa_" in newest["text"]:
            return ["alexa_handler"]
        unclear = newest["annotations"].get("asr", {}).get("asr_confidence") == "very_low"
        if unclear and len(heard) > 1:
            return ["misheard_asr"]
        named = [*self._by_rule(dialog, newest), *_always(dialog, newest)]
        skills = {*skills_of(dialog)}
        return [one for one in named if one in skills] or named

    def _by_rule(self, dialog: State, newest: State) -> list[str | None]:
        text, intents = newest["text"], detected_intents(newest)
        if "/new_persona" in text:
            return ["personality_catcher"]
        if text == "/get_dialog_id":
            return ["dummy_skill"]
        certain = {one for one in intents & HIGH_PRIORITY if means_what_it_says(one, dialog)}
        if self._environment.high_priority_intents and certain:
            return ["dummy_skill", "dff_intent_responder_skill"]
        if intents & {*COMMANDS, "test_command"}:
            return ["dummy_skill", "dff_command_selector_skill"]
        if self._environment.sensitive_restricted and is_sensitive_request(newest):
            return [*SAFE, previous_skill(dialog)]
        return [*_general(dialog, newest, intents), previous_skill(dialog)]


def _general(dialog: State, newest: State, intents: set[str]) -> Iterator[str]:
    yield from GENERAL
    if len(dialog["utterances"]) < SHORT_DIALOG:
        yield "dff_friendship_skill"
    if intents & LOW_PRIORITY:
        yield "dff_intent_responder_skill"
    if newest.get("attributes", {}).get("sound_path"):
        yield "dff_voice_skill"
    for skill in skills_of(dialog):
        if not (has_rule(skill) or skill in ON_DEMAND or "prompted_skill" in skill):
            yield skill
    yield from topical_skills(dialog, newest)


def _always(dialog: State, newest: State) -> Iterator[str]:
    yield "dff_universal_prompted_skill"
    yield from prompted_skills(newest)
    if is_question(newest) and is_factoid(newest):
        yield "dff_google_api_skill"
    if newest.get("attributes", {}).get("image"):
        yield "dff_image_skill"
    if any(one.get("attributes", {}).get("image") for one in dialog["human_utterances"][-5:]):
        yield "dff_fromage_image_skill"
