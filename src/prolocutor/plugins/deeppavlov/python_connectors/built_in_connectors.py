"""The Python connectors that are built in, by the class names of a DREAM pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from prolocutor.plugins.deeppavlov.python_connectors.description_selector import (
    DescriptionBasedSelector,
)
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from prolocutor.plugins.deeppavlov.python_connectors.fixed_skills import (
    AlexaHandler,
    DummySkill,
    MostConfident,
    PredefinedOutput,
    PredefinedText,
    fallback_texts,
)
from prolocutor.plugins.deeppavlov.python_connectors.post_annotator_selector import (
    PostAnnotatorSelector,
)
from prolocutor.plugins.deeppavlov.python_connectors.rule_selector import RuleBasedSelector


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
