"""The Python connectors that are built in, by the class names of a DREAM pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from prolocutor.plugins.deeppavlov.python_connectors.fixed_skills import (
    AlexaHandler,
    DummySkill,
    MostConfident,
    PredefinedOutput,
    PredefinedText,
    fallback_texts,
)
from prolocutor.plugins.deeppavlov.python_connectors.rule_selector import RuleBasedSelector
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


class PostAnnotatorSelector:
    """Names the annotators missing from the last bot utterance; sees the dialog."""

    def __init__(self, annotator_names: Sequence[str]) -> None:
        self._names = list(annotator_names)

    def __call__(self, task: Any) -> Any:
        """Return the names; empty in a dialog's first turn, which leaves no annotator out."""
        said = task["bot_utterances"]
        return [name for name in self._names if name not in said[-1]["annotations"]] if said else []


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
        yield from (skill for skill in skills if skill not in prompted and skill not in ON_DEMAND)


class BuiltInConnector(Protocol):
    """A quick function of the formatted task."""

    def __call__(self, task: Any) -> Any:
        """Return the reply, before the response formatter."""


Build = Callable[[Mapping[str, Any], DreamEnvironment], BuiltInConnector]
"""Makes a connector of the keys beside `class_name`; keys that it does not know mean nothing."""


def make_built_in(
    class_name: str, arguments: Mapping[str, Any], environment: DreamEnvironment
) -> BuiltInConnector | None:
    """Make a connector by its `class_name`; None if it is not built in (as with a module).

    Raise KeyError for a missing argument.
    """
    build = PYTHON_CONNECTORS.get(class_name)
    return build(arguments, environment) if build else None


def _make_predefined(given: Mapping[str, Any], _: DreamEnvironment) -> BuiltInConnector:
    return PredefinedText(given["response_text"], given.get("annotations"))


NEEDED: Mapping[str, str] = {
    "PredefinedTextConnector": "response_text",
    "PredefinedOutputConnector": "output",
    "PostAnnotatorSelectorConnector": "annotator_names",
}
"""The key without which a connector cannot be made."""

PYTHON_CONNECTORS: Mapping[str, Build] = {
    "PredefinedTextConnector": _make_predefined,
    "PredefinedOutputConnector": lambda given, _: PredefinedOutput(given["output"]),
    "ConfidenceResponseSelectorConnector": lambda _, environment: MostConfident(),
    "PostAnnotatorSelectorConnector": lambda given, _: PostAnnotatorSelector(
        given["annotator_names"]
    ),
    "DummySkillConnector": lambda _, environment: DummySkill(fallback_texts(environment)),
    "DescriptionBasedSkillSelectorConnector": lambda _, environment: DescriptionBasedSelector(
        environment
    ),
    "RuleBasedSkillSelectorConnector": lambda _, environment: RuleBasedSelector(environment),
    "AlexaHandlerConnector": lambda _, environment: AlexaHandler(),
}
