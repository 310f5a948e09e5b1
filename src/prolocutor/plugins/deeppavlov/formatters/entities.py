"""The subjects of an utterance: entities with labels, noun phrases, linked entities."""

from __future__ import annotations

from typing import Any

from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import State


def labelled_entities(utterance: State) -> list[State]:
    """Return the entities as `{"text", "label"}`, from the best available annotator."""
    annotations = utterance["annotations"]
    if "entity_detection" in annotations:
        found = annotations["entity_detection"].get("labelled_entities", [])
        return [one for one in found if isinstance(one, dict) and one.get("label") != "anaphor"]
    return [{"text": text, "label": "misc"} for text in _nouns(annotations)]


def noun_phrases(utterance: State) -> list[Any]:
    """Return the texts of the entities or noun phrases."""
    if "entity_detection" in utterance["annotations"]:
        return [entity["text"] for entity in labelled_entities(utterance) if "text" in entity]
    return _nouns(utterance["annotations"])


def entity_tags(utterance: State) -> tuple[list[str], list[list[list[Any]]]]:
    """Return the entities' texts and the `[label, confidence]` pairs of each."""
    named = [
        entity
        for entity in labelled_entities(utterance)
        if entity.get("text", "alexa").lower() != "alexa"
    ]
    return [one["text"] for one in named], [_tags(one) for one in named]


def linked_entities(utterance: State, needed: str | None = None) -> list[State]:
    """Return the linked entities; with a key, only entities with a name and a value of this key."""
    found = [
        one for one in utterance["annotations"].get("entity_linking", []) if isinstance(one, dict)
    ]
    if needed is None:
        return found
    return [one for one in found if "entity_substr" in one and one.get(needed)]


def _nouns(annotations: State) -> list[Any]:
    if "spacy_nounphrases" in annotations:
        return list(annotations["spacy_nounphrases"])
    words = annotations.get("spacy_annotator", [])
    return [word["text"] for word in words if word.get("pos_") == "NOUN"]


def _tags(entity: State) -> list[list[Any]]:
    if "finegrained_label" in entity:
        return [[label.lower(), confidence] for label, confidence in entity["finegrained_label"]]
    return [[entity["label"].lower(), 1.0]] if "label" in entity else [["misc", 1.0]]
