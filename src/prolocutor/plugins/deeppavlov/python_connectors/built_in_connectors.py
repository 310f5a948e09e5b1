"""The built-in Python connectors by their class names in DREAM, and its rule selector."""

from __future__ import annotations

import re
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
from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import (
    COMMANDS,
    HIGH_PRIORITY,
    State,
    chosen_by_client,
    deduplicate,
    detected_intents,
    is_factoid,
    is_question,
    is_sensitive_request,
    pipeline_skills,
    previous_skill,
    prompted_skills,
)
from prolocutor.plugins.deeppavlov.python_connectors.talk_of_topics import Exchange
from prolocutor.plugins.deeppavlov.python_connectors.topic_rules import (
    linked_skills,
    topical_skills,
)

GENERAL = (
    "dff_grounding_skill dff_program_y_skill personal_info_skill meta_script_skill dummy_skill"
    " dialogpt dialogpt_persona_based seq2seq_persona_based small_talk_skill"
    " knowledge_grounding_skill convert_reddit comet_dialog_skill dff_program_y_wide_skill"
    " dff_generative_skill gpt2_generator faq_skill_deepy dff_reasoning_skill"
).split()
SAFE = (
    "dff_program_y_dangerous_skill meta_script_skill personal_info_skill factoid_qa"
    " dff_grounding_skill dff_generative_skill dummy_skill small_talk_skill"
).split()
"""Skills that speak about anything without an opinion."""
NOT_BESIDE_CORONAVIRUS = frozenset(("convert_reddit", "comet_dialog_skill"))
LOW_PRIORITY = frozenset(("dont_understand", "what_time", "choose_topic"))
UNPREDICTABLE = frozenset(
    "convert_reddit knowledge_grounding_skill dff_generative_skill dialogpt dialogpt_persona_based"
    " seq2seq_persona_based".split()
)
"""Skills with generated replies, to which a person may well ask "what?"."""
SHORT_DIALOG = 20  # utterances, under which the skill for acquaintance is asked
KEYWORDS = 5  # of the last two human utterances, of which a short story is made
STORY = "dff_short_story_skill"

UNIVERSAL = "dff_universal_prompted_skill"
ON_DEMAND = ("dff_google_api_skill", "factoid_qa", "dff_document_qa_llm_skill")

NEEDED: Mapping[str, str] = {
    "PredefinedTextConnector": "response_text",
    "PredefinedOutputConnector": "output",
    "PostAnnotatorSelectorConnector": "annotator_names",
}
"""The key without which a connector cannot be made."""


class RuleBasedSelector:
    """Names the skills for commands and intents, else for any topic and for the present topic."""

    def __init__(self, environment: DreamEnvironment) -> None:
        self._environment = environment

    def __call__(self, task: Any) -> Any:
        """Return labels, [] for all skills; two skills for any topic if the dialog is
        unreadable.
        """
        try:
            return deduplicate(self._select(task["states_batch"][0]))
        except Exception:
            return ["dff_program_y_skill", "dummy_skill"]

    def _select(self, dialog: State) -> list[str | None]:
        newest = dialog["human_utterances"][-1]
        chosen = [] if self._environment.all_skills else chosen_by_client(newest)
        if chosen is not None:
            return list(chosen)
        named = [*self._choose(dialog, newest), *_always(dialog, newest)]
        skills = {*pipeline_skills(dialog)}
        return [one for one in named if one in skills] or named

    def _choose(self, dialog: State, newest: State) -> list[str | None]:
        if "/alexa_" in newest.get("orig_text", newest["text"].lower()):
            return ["alexa_handler"]
        unclear = newest["annotations"].get("asr", {}).get("asr_confidence") == "very_low"
        if unclear and len(dialog["utterances"]) > 1:
            return ["misheard_asr"]
        bot_utterances = dialog["bot_utterances"]
        exchange = Exchange(newest, bot_utterances[-1] if bot_utterances else {})
        return [*_images(dialog), *self._apply_rules(dialog, exchange)]

    def _apply_rules(self, dialog: State, exchange: Exchange) -> list[str | None]:
        newest, text = exchange.newest, exchange.text
        intents = detected_intents(newest)
        if "/new_persona" in text:
            return ["personality_catcher"]
        if text == "/get_dialog_id":
            return ["dummy_skill"]
        if (
            self._environment.high_priority_intents
            and intents & HIGH_PRIORITY
            and not _is_mistaken(intents, dialog, exchange)
        ):
            return ["dummy_skill", "dff_intent_responder_skill"]
        if intents & {*COMMANDS, "test_command"}:
            return ["dummy_skill", "dff_command_selector_skill"]
        sensitive = self._environment.sensitive_restricted and is_sensitive_request(newest)
        named = [
            *(SAFE if sensitive else _general(dialog, exchange, intents)),
            *topical_skills(exchange, sensitive),
            *linked_skills(dialog, exchange),
            previous_skill(dialog),
        ]
        if "dff_coronavirus_skill" in named:
            for one in NOT_BESIDE_CORONAVIRUS.intersection(named):
                named.remove(one)
        return named


def _is_mistaken(intents: set[str], dialog: State, exchange: Exchange) -> bool:
    """Return whether the high-priority intents are probably mistaken.

    "exit" in the first words of a dialog, "what?" after generated words, and "play" in reply to a
    greeting do not count as intents (DREAM's rule-based selector).
    """
    turns, text = len(dialog["human_utterances"]), exchange.text
    made_up = exchange.last.get("active_skill", "") in UNPREDICTABLE
    return (
        ("exit" in intents and (turns == 1 or (turns == 2 and len(text.split()) > 3)))
        or ("repeat" in intents and made_up and re.fullmatch(r"what.?", text) is not None)
        or ("cant_do" in intents and "play" in text and exchange.greets)
    )


def _general(dialog: State, exchange: Exchange, intents: set[str]) -> Iterator[str]:
    yield from GENERAL
    if len(dialog["utterances"]) < SHORT_DIALOG:
        yield "dff_friendship_skill"
    if intents & LOW_PRIORITY:
        yield "dff_intent_responder_skill"
    if exchange.newest["attributes"].get("sound_path") is not None:
        yield "dff_voice_skill"
    if "dummy_skill" in exchange.last.get("active_skill", "") and len(dialog["utterances"]) > 4:
        yield "dummy_skill_dialog"


def _images(dialog: State) -> Iterator[str]:
    if dialog["human_utterances"][-1]["attributes"].get("image") is not None:
        yield "dff_image_skill"
    if any("image" in utterance["attributes"] for utterance in dialog["human_utterances"][-5:]):
        yield "dff_fromage_image_skill"


def _always(dialog: State, newest: State) -> Iterator[str]:
    if "tell_me_a_story" in detected_intents(newest):
        yield STORY
    heard, said = dialog["human_utterances"][-2:], dialog["bot_utterances"][-1:]
    keywords = [
        keyword for each in heard for keyword in each["annotations"].get("rake_keywords", ())
    ]
    told = any(one.get("active_skill") == STORY for one in said)
    if len(heard) > 1 and len(keywords) >= KEYWORDS and not told:
        yield STORY
    yield "dff_universal_prompted_skill"
    yield from prompted_skills(newest)
    if is_question(newest) and is_factoid(newest):
        yield "dff_google_api_skill"


class PostAnnotatorSelector:
    """Names the annotators missing from the last bot utterance; sees the dialog."""

    def __init__(self, annotator_names: Sequence[str]) -> None:
        self._names = list(annotator_names)

    def __call__(self, task: Any) -> Any:
        """Return the names; empty in a dialog's first turn, which leaves no annotator out."""
        bot_utterances = task["bot_utterances"]
        return (
            [name for name in self._names if name not in bot_utterances[-1]["annotations"]]
            if bot_utterances
            else []
        )


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
