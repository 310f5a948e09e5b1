"""What skill selectors read in a dialog to tell which skills to ask."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

State = dict[str, Any]

HIGH_PRIORITY = frozenset(
    "cant_do exit repeat what_can_you_do what_is_your_job what_is_your_name where_are_you_from"
    " who_made_you".split()
)
COMMANDS = frozenset(
    "track_object turn_around move_forward move_backward open_door move_to_point".split()
)
UNPREDICTABLE = frozenset(
    "convert_reddit knowledge_grounding_skill dff_generative_skill dialogpt dialogpt_persona_based"
    " seq2seq_persona_based".split()
)
"""Skills whose replies are made up as they go, so that a person may well ask "what?"."""
SENSITIVE_TOPICS = frozenset("Politics Religion Sex_Profanity Inappropriate_Content".split())
ASKING_FOR_OPINION = frozenset(
    "Opinion_RequestIntent opinion_request open_question_opinion open_question_personal"
    " yes_no_question".split()
)
CONTINUING = frozenset(("can", "must", "can_prompt"))

QUESTION = re.compile(
    r"\s*+(?:but\s++)?(?:"
    r"(?:what|who|how|when|where|which|why|whether|tell me)\b"
    r"|(?:do|does|have|has|can|could|shall|should|will|would|might|must)"
    r"\s+(?:i|you|he|she|it|we|they|this|that|these|those|there)\b)",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?]+")


def chosen_by_client(utterance: State) -> list[str] | None:
    """Return the skills that the request named, [] for all, None where it named none."""
    selected = utterance.get("attributes", {}).get("selected_skills")
    if selected == "all" or selected == []:
        return []
    if not selected:
        return None
    return [selected] if isinstance(selected, str) else list(selected)


def detected_intents(utterance: State) -> set[str]:
    """Return the intents that were found in the utterance."""
    found = utterance["annotations"].get("intent_catcher", {})
    return {intent for intent, sign in found.items() if sign.get("detected") == 1}


def means_what_it_says(intent: str, dialog: State) -> bool:
    """Return whether an intent is to be taken as found: three of them are often mistaken.

    "exit" in the first words of a dialog, "what?" after words that a model made up, and "play"
    in reply to a greeting are none of these intents (DREAM's rule-based selector).
    """
    heard, said = dialog["human_utterances"], dialog["bot_utterances"]
    text = heard[-1]["text"].lower()
    last = said[-1] if said else {}
    if intent == "exit":
        return not (len(heard) == 1 or (len(heard) == 2 and len(text.split()) > 3))
    if intent == "repeat":
        made_up = last.get("active_skill") in UNPREDICTABLE
        return not (made_up and re.match(r"what.?$", text))
    if intent == "cant_do":
        return not ("play" in text and "?" in last.get("text", ""))
    return True


def is_sensitive_request(utterance: State) -> bool:
    """Return whether the text asks for an opinion, or something personal, on a touchy topic."""
    topics = labels(utterance, "cobot_topics") | labels(utterance, "cobot_dialogact_topics")
    if not topics & SENSITIVE_TOPICS:
        return False
    asked = labels(utterance, "cobot_dialogact_intents") | _midas_labels(utterance)
    return bool((asked | detected_intents(utterance)) & ASKING_FOR_OPINION)


def labels(utterance: State, classifier: str) -> set[str]:
    """Return the likely labels of a classifier: those over .5, or else the likeliest."""
    annotations = utterance["annotations"]
    found = annotations.get(classifier)
    if not found and classifier.startswith("cobot_dialogact_"):
        found = annotations.get("cobot_dialogact", {}).get(classifier.rpartition("_")[2])
    if not found:
        found = combined(annotations).get(classifier)
    if isinstance(found, dict) and "text" in found:
        found = found["text"]
    if isinstance(found, dict):
        likely = {label for label, likelihood in found.items() if likelihood > 0.5}
        return likely or {label for label in found if found[label] == max(found.values())}
    return {found} if isinstance(found, str) else set(found or ())


def combined(annotations: State) -> State:
    """Return what the annotator says that classifies by many classifiers at once."""
    found = annotations.get("combined_classification")
    if isinstance(found, list):
        found = found[0] if found else None
    return found if isinstance(found, dict) else {}


def _midas_labels(utterance: State) -> set[str]:
    found = utterance["annotations"].get("midas_classification") or []
    sentences = found if isinstance(found, list) else [found]
    return {
        label
        for sentence in sentences
        for label, likelihood in sentence.items()
        if likelihood == max(sentence.values())
    }


def previous_skill(dialog: State) -> str | None:
    """Return the skill that spoke last, if it has offered to go on."""
    heard, said = dialog["human_utterances"], dialog["bot_utterances"]
    if len(heard) < 2 or not said:
        return None
    skill: str = said[-1]["active_skill"]
    for hypothesis in heard[-2].get("hypotheses", ()):
        if hypothesis["skill_name"] == skill and hypothesis.get("can_continue") in CONTINUING:
            return skill
    return None


def is_question(utterance: State) -> bool:
    """Return whether the text has a question mark, or a sentence begins as a question."""
    text = utterance["text"]
    return "?" in text or any(QUESTION.match(part) for part in SENTENCE_END.split(text))


def is_factoid(utterance: State) -> bool:
    """Return whether the text most likely asks for a fact."""
    annotations = utterance["annotations"]
    found = annotations.get("factoid_classification")
    if not found:
        found = combined(annotations).get("factoid_classification")
    if isinstance(found, list):
        found = found[0] if found else None
    if not found:
        return False
    likely = found.get("is_factoid", 0.0)
    return bool(likely >= 0.5 and likely == max(found.values()))


def prompted_skills(utterance: State) -> list[str]:
    """Return the skills of the prompts that fit best."""
    prompts = utterance["annotations"].get("prompt_selector", {}).get("prompts", [])
    return [f"dff_{prompt}_prompted_skill" for prompt in prompts]


def skills_of(dialog: State) -> list[str]:
    """Return the labels of the pipeline's skills."""
    names = dialog.get("attributes", {}).get("pipeline", ())
    return [name.split(".")[1] for name in names if "skills" in name and "." in name]


def without_doubles(names: Iterable[str | None]) -> list[str]:
    """Return the names in order, each once."""
    return list(dict.fromkeys(name for name in names if name))
