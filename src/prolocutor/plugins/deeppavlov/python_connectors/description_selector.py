"""The skill selector of pipelines with prompted skills: prompts, commands, questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import (
    COMMANDS,
    HIGH_PRIORITY,
    State,
    chosen_by_client,
    deduplicate,
    detected_intents,
    is_factoid,
    is_question,
    pipeline_skills,
    previous_skill,
    prompted_skills,
)

UNIVERSAL = "dff_universal_prompted_skill"
ON_DEMAND = ("dff_google_api_skill", "factoid_qa", "dff_document_qa_llm_skill")


class DescriptionBasedSelector:
    """Names the skills fitting the annotations of the new utterance."""

    def __init__(self, environment: DreamEnvironment) -> None:
        self._environment = environment

    def __call__(self, task: Any) -> Any:
        """Return labels, [] for all skills; only the dummy skill where the dialog is unreadable."""
        try:
            return deduplicate(self._select(task["states_batch"][0]))
        except Exception:
            return ["dummy_skill"]

    def _select(self, dialog: State) -> list[str | None]:
        newest = dialog["human_utterances"][-1]
        chosen = [] if self._environment.all_skills else chosen_by_client(newest)
        if chosen is not None:
            return list(chosen)
        intents = detected_intents(newest) if self._environment.high_priority_intents else set()
        if intents & HIGH_PRIORITY:
            return ["dummy_skill", "dff_intent_responder_skill"]
        if intents & COMMANDS:
            return ["dummy_skill", "dff_command_selector_skill"]
        if newest["text"] == "/get_dialog_id":
            return ["dummy_skill"]
        return ["dummy_skill", previous_skill(dialog), *self._fitting(dialog, newest)]

    def _fitting(self, dialog: State, newest: State) -> Iterator[str]:
        skills = pipeline_skills(dialog)
        if UNIVERSAL in skills:
            yield UNIVERSAL
        prompted = [skill for skill in skills if "prompted_skill" in skill]
        fitting = prompted_skills(newest)
        yield from [skill for skill in fitting if skill in prompted] if fitting else prompted
        if is_question(newest):
            yield "dff_google_api_skill"
        if is_factoid(newest):
            yield "factoid_qa"
        if dialog["bot"]["attributes"].get("db_link"):
            yield "dff_document_qa_llm_skill"
        yield from (one for one in skills if one not in prompted and one not in ON_DEMAND)
