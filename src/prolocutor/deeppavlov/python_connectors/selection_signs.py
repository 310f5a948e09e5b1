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
CONTINUING = frozenset(("can", "must", "can_prompt"))

QUESTION = re.compile(
    r"\s*(?:but\s+)?(?:"
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
        found = annotations.get("combined_classification", {}).get("factoid_classification")
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
