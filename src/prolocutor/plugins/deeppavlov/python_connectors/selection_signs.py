"""The signs in a dialog by which skill selectors choose skills."""

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
SENSITIVE_TOPICS = {
    "cobot_topics": {"Politics", "Religion", "Sex_Profanity"},
    "cobot_dialogact_topics": {"Politics", "Inappropriate_Content"},
}
ASKING_FOR_OPINION = frozenset(
    "Opinion_RequestIntent opinion_request open_question_opinion open_question_personal"
    " yes_no_question".split()
)
CONTINUING = frozenset(("can", "must", "can_prompt"))

QUESTION = re.compile(
    r"\s*+(?:but )?(?:what'?s?|who'?s?|how'?s?|when|where|which|whom|whose|why|whether|tell me"
    r"|(?:do|have) (?:i|we|you|they)|(?:does|has) (?:it|he|she)"
    r"|(?:can|could|shall|should|will|would|might|must) (?:i|it|we|you|they))\b",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?]+")
YES = re.compile(
    r"\b(?:yes|yup|yep|sure|yeah|ok)\b|go ahead|okay|^(?:kind of|kinda|why not|tell me)\.?$"
    r"|^i (?:agree|do|did|like|have|had|think so)\.?$"
)
NO = re.compile(r"\bno\b|\bnot\b|don't|i disagree|^neither.?$")
UNDECIDED = re.compile(r"(?:do not|don't) know|you (?:choose|decide|pick up)|no idea")
LIKELY = 0.5
"""The likelihood over which a classifier's label is taken for the case."""
TOPIC_LIKELY = {
    **dict.fromkeys(
        "Food Movies_TV Leisure Beauty Clothes Depression Celebrities&Events Family&Relationships"
        " Health&Medicine Education Sports".split(),
        0.0,
    ),
    **dict.fromkeys(
        "Books&Literature Videogames Politics ArtificialIntelligence MassTransit".split(), 0.3
    ),
}
"""The same for single `deeppavlov_topics`; it is .9 for the others."""
SEMANTIC = frozenset(
    "open_question_factual open_question_opinion open_question_personal yes_no_question"
    " clarifying_question command dev_command appreciation opinion complaint comment statement"
    " other_answers pos_answer neg_answer".split()
)
FUNCTIONAL = frozenset(
    "abandon nonsense opening closing hold back-channeling uncertain non_compliant"
    " correction".split()
)
"""The two kinds of MIDAS labels: of each the likeliest counts."""


def chosen_by_client(utterance: State) -> list[str] | None:
    """Return the skills named by the request, [] for all, None without names."""
    selected = utterance.get("attributes", {}).get("selected_skills")
    if selected == "all" or selected == []:
        return []
    if not selected:
        return None
    return [selected] if isinstance(selected, str) else list(selected)


def detected_intents(utterance: State) -> set[str]:
    """Return the detected intents of the utterance."""
    found = utterance.get("annotations", {}).get("intent_catcher", {})
    return {intent for intent, sign in found.items() if sign.get("detected") == 1}


def is_yes(utterance: State) -> bool:
    """Return whether the utterance agrees."""
    found = "yes" in detected_intents(utterance) or "pos_answer" in midas_labels(utterance)
    return found or YES.search(utterance["text"].lower()) is not None


def is_no(utterance: State) -> bool:
    """Return whether the utterance declines."""
    text = utterance["text"].lower()
    if text.strip().replace(".", "") == "horrible" or UNDECIDED.search(text) or is_yes(utterance):
        return False
    found = "no" in detected_intents(utterance) or "neg_answer" in midas_labels(utterance)
    return found or NO.search(text) is not None


def is_sensitive_request(utterance: State) -> bool:
    """Return whether the text asks for an opinion, or something personal, on a touchy topic."""
    if not any(labels(utterance, topic) & touchy for topic, touchy in SENSITIVE_TOPICS.items()):
        return False
    asked = labels(utterance, "cobot_dialogact_intents") | midas_labels(utterance)
    return bool((asked | detected_intents(utterance)) & ASKING_FOR_OPINION)


def labels(utterance: State, classifier: str) -> set[str]:
    """Return the labels of a classifier; of labels with likelihoods only the likely labels.

    Likely labels are over .5, or else the likeliest; of `deeppavlov_topics` it is the likeliest if
    over its own bound.
    """
    annotations = utterance["annotations"]
    found: Any = None
    if classifier.startswith("cobot_dialogact_"):
        found = annotations.get("cobot_dialogact", {}).get(classifier.rpartition("_")[2])
    if classifier != "deeppavlov_topics":
        found = _text(annotations.get(classifier) if found is None else found)
    found = found or combined_annotation(annotations).get(classifier)
    if not isinstance(found, dict):
        return {found} if isinstance(found, str) else set(found or ())
    likeliest = {label for label in found if found[label] == max(found.values())}
    if classifier == "deeppavlov_topics":
        return {one for one in likeliest if found[one] > TOPIC_LIKELY.get(one, 0.9)}
    return {one for one in found if found[one] > LIKELY} or likeliest


def likelihoods(utterance: State, classifier: str) -> dict[str, float]:
    """Return how likely each label of a classifier is; empty where that is not known."""
    annotations = utterance["annotations"]
    if classifier in annotations:
        found = _text(annotations[classifier])
    else:
        found = combined_annotation(annotations).get(classifier)
    return found if isinstance(found, dict) else {}


def _text(found: Any) -> Any:
    return found["text"] if isinstance(found, dict) and "text" in found else found


def combined_annotation(annotations: State) -> State:
    """Return the annotation of the combined classifiers."""
    found = annotations.get("combined_classification")
    if isinstance(found, list):
        found = found[0] if found else None
    return found if isinstance(found, dict) else {}


def midas_labels(utterance: State) -> set[str]:
    """Return the likeliest dialog acts: of each sentence, or of each kind in the whole."""
    annotations = utterance.get("annotations", {})
    found = annotations.get("midas_classification")
    found = found or combined_annotation(annotations).get("midas_classification") or {}
    if isinstance(found, list):
        kinds = found
    else:
        kinds = [
            {one: found[one] for one in found if one in kind} for kind in (SEMANTIC, FUNCTIONAL)
        ]
    return {one for kind in kinds for one in kind if kind[one] == max(kind.values())}


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
    found = likelihoods(utterance, "factoid_classification")
    likely = found.get("is_factoid", 0.0)
    return bool(likely > LIKELY or (likely == LIKELY and likely == max(found.values())))


def prompted_skills(utterance: State) -> list[str]:
    """Return the skills of the best prompts."""
    prompts = utterance["annotations"].get("prompt_selector", {}).get("prompts", [])
    return [f"dff_{prompt}_prompted_skill" for prompt in prompts]


def pipeline_skills(dialog: State) -> list[str]:
    """Return the labels of the pipeline's skills."""
    names = dialog.get("attributes", {}).get("pipeline", ())
    return [name.split(".")[1] for name in names if "skills" in name and "." in name]


def deduplicate(names: Iterable[str | None]) -> list[str]:
    """Return the names in order, without repetitions."""
    return list(dict.fromkeys(name for name in names if name))
