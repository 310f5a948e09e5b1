"""Formatters that ask about the new human utterance."""

from __future__ import annotations

from typing import Any

from prolocutor.plugins.deeppavlov.formatters.annotated_text import (
    punctuate,
    segments,
    spelling_text,
    texts,
)
from prolocutor.plugins.deeppavlov.formatters.cropping import (
    crop,
    newest_utterance,
    recent,
)
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import (
    NOTHING_EARLIER,
    EarlierDialog,
    State,
    named,
)
from prolocutor.plugins.deeppavlov.formatters.entities import (
    entity_tags,
    labelled_entities,
    linked_entities,
    noun_phrases,
)

SEPARATOR = " [SEP] "
NEUTRAL_MOOD = [0.75, 0.25, 0.44]
MEDIA = ("sound_path", "sound_duration", "sound_type", "video_path", "video_duration", "video_type")


@named("last_utt_dialog")
def text(dialog: State) -> list[Any]:
    """Ask about the text."""
    return [{"sentences": [newest_utterance(dialog)["text"]]}]


@named("preproc_last_human_utt_dialog")
def spelled_text(dialog: State) -> list[Any]:
    """Ask about the text with its spelling corrected."""
    return [{"sentences": [spelling_text(newest_utterance(dialog))]}]


@named("preproc_last_human_utt_dialog_w_hist", window=5)
def spelled_text_and_history(dialog: State) -> list[Any]:
    """Ask about the spelled text, alone and after up to two turns before it."""
    newest = spelling_text(newest_utterance(dialog))
    said = []
    for human, bot in zip(
        dialog["human_utterances"][-3:-1], dialog["bot_utterances"][-2:], strict=False
    ):
        said += [spelling_text(human), bot["text"]]
    return [{"sentences": [newest], "sentences_with_history": [SEPARATOR.join([*said, newest])]}]


@named("preproc_and_tokenized_last_human_utt_dialog")
def spelled_text_and_tokens(dialog: State) -> list[Any]:
    """Ask about the spelled text, with its words where they are known."""
    newest = newest_utterance(dialog)
    request: State = {"sentences": [spelling_text(newest)]}
    words = newest["annotations"].get("spacy_annotator", [])
    if words:
        request["tokenized_sentences"] = [[word["text"] for word in words]]
    return [request]


@named("last_utt_sentseg_segments_dialog")
def sentences(dialog: State) -> list[Any]:
    """Ask about the sentences of the text."""
    return [{"sentences": [segments(newest_utterance(dialog))]}]


@named("ner_formatter_dialog")
def last_utterances(dialog: State) -> list[Any]:
    """Ask for names in the sentences of the text."""
    return [{"last_utterances": [segments(newest_utterance(dialog))]}]


@named("last_utt_and_history_dialog", turns=5)
def text_and_history(dialog: State) -> list[Any]:
    """Ask about the text, with the texts of the last five turns."""
    shown = punctuate(recent(dialog))
    sentence = spelling_text(newest_utterance(shown))
    return [{"sentences": [sentence], "utterances_histories": [texts(shown["utterances"])]}]


@named("last_human_annotated_utterance")
def annotated_utterance(dialog: State) -> list[Any]:
    """Show the utterance."""
    return [{"last_human_annotated_utterance": [newest_utterance(dialog)]}]


@named("last_human_bot_annotated_utterance", window=2)
def annotated_utterances(dialog: State) -> list[Any]:
    """Show the utterance, and the bot utterance before it."""
    bot_utterances = dialog["bot_utterances"]
    return [
        {
            "last_human_utterances": [newest_utterance(dialog)],
            "bot_utterances": [bot_utterances[-1] if bot_utterances else {}],
            "dialog_ids": [dialog.get("dialog_id", "unknown")],
        }
    ]


@named("last_human_utt_nounphrases")
def phrases(dialog: State) -> list[Any]:
    """Ask about the noun phrases."""
    return [{"nounphrases": [noun_phrases(newest_utterance(dialog))]}]


@named("entity_detection_formatter_dialog", window=2)
def last_two_texts(dialog: State) -> list[Any]:
    """Ask for entities in the text, with the bot's before it."""
    return [{"sentences": [_context(dialog)]}]


@named("el_formatter_dialog", window=2)
def entities_in_context(dialog: State) -> list[Any]:
    """Ask for the entities, with the text and the bot's text before it."""
    names, tags = entity_tags(newest_utterance(dialog))
    return [{"entity_substr": [names], "entity_tags": [tags], "contexts": [_context(dialog)]}]


@named("custom_el_formatter_dialog", window=2)
def entities_of_user(dialog: State) -> list[Any]:
    """Ask for the entities, including the user's own."""
    newest = newest_utterance(dialog)
    [request] = entities_in_context(dialog)
    request["user_id"] = [str(newest["user"]["id"])]
    request["property_extraction"] = [newest["annotations"].get("property_extraction", {})]
    return [request]


@named("wp_formatter_dialog", counts=True)
def triplets(dialog: State, earlier: EarlierDialog = NOTHING_EARLIER) -> list[Any]:
    """Ask for known facts about the linked entities."""
    query: list[State] = [
        {
            "entity_substr": entity["entity_substr"],
            "entity_ids": entity["entity_ids"][:5],
            "confidences": entity.get("confidences", [])[:5],
            "tokens_match_conf": entity["tokens_match_conf"][:5],
        }
        for entity in linked_entities(newest_utterance(dialog))
        if all(key in entity for key in ("entity_substr", "entity_ids", "tokens_match_conf"))
    ]
    return [
        {
            "parser_info": ["find_top_triplets"],
            "query": [query or [{}]],
            "utt_num": earlier.human_utterances + len(dialog["human_utterances"]),
        }
    ]


@named("kbqa_formatter_dialog")
def question(dialog: State) -> list[Any]:
    """Ask the knowledge base about the sentences of the text and their entities."""
    newest = newest_utterance(dialog)
    names, tags = entity_tags(newest)
    found = newest["annotations"].get("sentseg")
    whole = found and "segments" not in found
    asked = [found["punct_sent"]] if whole else segments(newest)
    return [{"x_init": asked, "entities": [names], "entity_tags": [tags]}]


@named("fact_random_formatter_dialog")
def random_fact(dialog: State) -> list[Any]:
    """Ask for any fact about the linked entities."""
    newest = newest_utterance(punctuate(crop(dialog, 1)))
    names = [entity["entity_substr"] for entity in linked_entities(newest, "entity_pages")]
    return [{"text": newest["text"], "entities": names}]


@named("fact_retrieval_formatter_dialog", window=3)
def facts(dialog: State) -> list[Any]:
    """Ask for facts about the linked entities, matching the last texts."""
    shown = punctuate(crop(dialog, 1))
    newest = newest_utterance(shown)
    found = linked_entities(newest, "pages_titles")
    return [
        {
            "human_sentences": [newest["text"]],
            "dialog_history": [" ".join(texts(shown["utterances"][-3:]))],
            "nounphrases": [noun_phrases(newest)],
            "entity_substr": _column(found, "entity_substr"),
            "entity_pages": _column(found, "first_paragraphs"),
            "entity_ids": _column(found, "entity_ids"),
            "entity_pages_titles": _column(found, "pages_titles"),
        }
    ]


@named("fact_retrieval_rus_formatter_dialog", window=2)
def russian_facts(dialog: State) -> list[Any]:
    """Ask for facts about the linked entities, in Russian."""
    shown = punctuate(crop(dialog, 1))
    found = linked_entities(newest_utterance(shown), "entity_pages")
    return [
        {
            "dialog_history": [[" ".join(texts(shown["utterances"][-2:]))]],
            "entity_substr": _column(found, "entity_substr"),
            "entity_tags": _column(found, "entity_tags"),
            "entity_pages": _column(found, "entity_pages"),
        }
    ]


@named("property_extraction_formatter_dialog", window=2)
def properties(dialog: State) -> list[Any]:
    """Ask for the text's statements about the human, with its entities."""
    newest = newest_utterance(dialog)
    return [
        {
            "utterances": [_context(dialog)],
            "entities_with_labels": [labelled_entities(newest)],
            "named_entities": [newest["annotations"].get("ner", [{}])],
            "entity_info": [newest["annotations"].get("entity_linking", [{}])],
        }
    ]


@named("midas_predictor_formatter")
def midas_labels(dialog: State) -> list[Any]:
    """Ask for the successors of the likeliest dialog act. Raise ValueError without annotated
    acts.
    """
    likely = _midas(newest_utterance(dialog)["annotations"])
    if not likely:
        raise ValueError("no annotator has given the utterance a midas_classification")
    return [{"last_midas_labels": [max(likely, key=lambda act: likely[act])], "return_probas": 1}]


@named("speech_function_formatter", window=2)
def speech_function(dialog: State) -> list[Any]:
    """Ask for the speech function of the text as an answer to the bot's."""
    bot_utterances = dialog["bot_utterances"]
    before = (
        bot_utterances[-1]["annotations"].get("speech_function_classifier", [""])[-1]
        if bot_utterances
        else ""
    )
    return [
        {
            "phrases": [newest_utterance(dialog)["text"]],
            "prev_phrases": [bot_utterances[-1]["text"] if bot_utterances else ""],
            "prev_speech_functions": [before],
        }
    ]


@named("speech_function_predictor_formatter")
def next_speech_function(dialog: State) -> list[Any]:
    """Ask which speech function may follow."""
    functions = newest_utterance(dialog)["annotations"].get("speech_function_classifier", [""])
    return [{"funcs": [functions]}]


@named("personality_catcher_formatter_dialog")
def personality(dialog: State) -> list[Any]:
    """Ask for the personality that the text describes."""
    return [{"personality": [newest_utterance(dialog)["text"]]}]


@named("emotion_detection_formatter")
def text_and_video(dialog: State) -> list[Any]:
    """Ask for the emotion in the text and its video."""
    newest = newest_utterance(dialog)
    video = _attribute(newest, "video_path")
    return [{"personality": [newest["text"]], "video_path": [video]}]


@named("voice_formatter_service")
def media(dialog: State) -> list[Any]:
    """Ask about the sound and the video that came with the text."""
    newest = newest_utterance(dialog)
    return [{f"{key}s": [_attribute(newest, key)] for key in MEDIA}]


@named("asr_formatter_dialog", window=5, hypotheses=True)
def speech(dialog: State) -> list[Any]:
    """Ask how well the speech was recognized."""
    spoken = _attribute(newest_utterance(dialog), "speech", {})
    return [{"speeches": [spoken], "human_utterances": [dialog["human_utterances"][-3:]]}]


@named("user_emotion_bot_mood_formatter", window=4)
def mood(dialog: State) -> list[Any]:
    """Ask for the bot's mood after the text, from its mood one reply before the last."""
    newest, said = newest_utterance(dialog), dialog["bot_utterances"]
    before = said[-2]["annotations"].get("bot_emotion_classifier", {}) if len(said) > 1 else {}
    return [
        {
            "sentences": [newest["text"]],
            "annotated_utterances": [newest],
            "bot_mood": [before.get("bot_mood", NEUTRAL_MOOD)],
        }
    ]


def _attribute(utterance: State, key: str, default: Any = None) -> Any:
    return utterance.get("attributes", {}).get(key, default)


def _context(dialog: State) -> list[Any]:
    return texts(punctuate(crop(dialog, 1))["utterances"][-2:])


def _column(entities: list[State], key: str) -> list[list[Any]]:
    """Return a value of each entity, as the only row of a batch."""
    return [[entity.get(key, []) for entity in entities]]


def _midas(annotations: State) -> dict[str, float]:
    """Return the probability of each dialog act, over sentences the highest."""
    found = annotations.get("midas_classification")
    if not found:
        found = annotations.get("combined_classification", {}).get("midas_classification", {})
    likely: dict[str, float] = {}
    for sentence in found if isinstance(found, list) else [found]:
        for act, probability in sentence.items():
            likely[act] = max(probability, likely.get(act, probability))
    return likely
