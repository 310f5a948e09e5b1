"""What holds for every formatter and every dialog."""

import json

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import DialogFormatter, EarlierDialog
from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS
from tests.plugins.deeppavlov.unit.formatters.agent_states import (
    State,
    bot,
    dialog,
    human,
    hypothesis,
)

TEXTS = st.sampled_from(["", "hi", "What is tea?", "Tea #+#repeat", "But what?", "/start", "да"])
SKILLS = st.sampled_from(["", "eliza", "convert_reddit", "misheard_asr", "dff_art_skill"])
ENTITY = st.sampled_from(
    [
        {"text": "Paris", "label": "LOC"},
        {"text": "it", "label": "anaphor"},
        {"text": "Alexa"},
        {"text": "tea", "label": "FOOD", "finegrained_label": [["Drink", 0.5]]},
    ]
)
LINKED = st.sampled_from(
    [
        {},
        {"entity_substr": "Paris"},
        {
            "entity_substr": "Paris",
            "entity_ids": ["Q1"] * 7,
            "confidences": [0.5] * 7,
            "tokens_match_conf": [1] * 7,
            "entity_pages": ["Paris"],
            "pages_titles": ["Paris"],
            "first_paragraphs": ["A city."],
            "entity_tags": ["loc"],
        },
    ]
)
ANNOTATIONS = st.fixed_dictionaries(
    {},
    optional={
        "spelling_preprocessing": TEXTS,
        "sentseg": st.fixed_dictionaries(
            {"punct_sent": TEXTS, "segments": st.lists(TEXTS, max_size=2)}
        ),
        "sentrewrite": st.fixed_dictionaries({"modified_sents": st.lists(TEXTS, max_size=2)}),
        "intent_catcher": st.fixed_dictionaries(
            {"repeat": st.sampled_from([{"detected": 0}, {"detected": 1}])}
        ),
        "asr": st.sampled_from([{}, {"asr_confidence": "very_low"}]),
        "entity_detection": st.fixed_dictionaries({"labelled_entities": st.lists(ENTITY)}),
        "spacy_nounphrases": st.lists(TEXTS, max_size=2),
        "spacy_annotator": st.sampled_from([[], [{"text": "tea", "pos_": "NOUN"}]]),
        "entity_linking": st.lists(LINKED, max_size=3),
        "midas_classification": st.sampled_from([{"yes": 0.5}, [{"yes": 0.5}, {"no": 0.7}]]),
        "speech_function_classifier": st.sampled_from([["React"], ["Open", "Ask"]]),
        "cobot_topics": st.sampled_from([{}, {"text": ["Food"]}]),
        "bot_emotion_classifier": st.sampled_from(
            [{}, {"bot_mood": [1, 1, 1], "bot_mood_label": "glad"}]
        ),
    },
)
HYPOTHESES = st.lists(
    st.builds(
        hypothesis, SKILLS, TEXTS, prompts_goals=st.sampled_from([None, {}, {"tea": "drink"}])
    ),
    max_size=2,
)
HUMANS = st.builds(
    lambda text, known, given: human(text, hypotheses=given, **known),
    TEXTS,
    ANNOTATIONS,
    HYPOTHESES,
)
BOTS = st.builds(
    lambda text, skill, sure, known: bot(text, skill, sure, **known),
    TEXTS,
    SKILLS,
    st.sampled_from([0.5, 1.0]),
    ANNOTATIONS,
)
ATTRIBUTES = st.fixed_dictionaries(
    {},
    optional={
        "entities": st.just({"tea": 1}),
        "age_group": st.just("adult"),
        "dff_art_skill_state": st.builds(
            lambda index: {"previous_human_utter_index": index}, st.integers(-1, 40)
        ),
    },
)


@st.composite
def dialogs(draw: st.DrawFn, most: int = 25) -> State:
    turns = draw(st.integers(0, most))
    said = [draw(speaker) for _ in range(turns) for speaker in (HUMANS, BOTS)]
    newest = draw(HUMANS)
    newest["annotations"].setdefault("midas_classification", {"yes": 1.0})  # one formatter asks it
    return dialog(*said, newest, attributes=draw(ATTRIBUTES))


@settings(max_examples=20, deadline=None)
@given(state=dialogs())
def test_formatters_give_json_and_leave_the_dialog_as_it_was(state: State) -> None:
    before = json.dumps(state)
    for formatter in FORMATTERS.values():
        requests = formatter.format(state)
        assert json.dumps(state) == before, formatter.name
        assert isinstance(requests, list)
        assert msgspec.json.decode(msgspec.json.encode(requests)) == requests, formatter.name


@settings(max_examples=20, deadline=None)
@given(state=dialogs())
def test_formatters_read_no_more_than_they_declare(state: State) -> None:
    for formatter in FORMATTERS.values():
        window, earlier = declared(formatter, state)
        assert formatter.requests(window, earlier) == formatter.format(state), formatter.name


def declared(formatter: DialogFormatter, state: State) -> tuple[State, EarlierDialog]:
    """Return the part of a dialog that a formatter says it reads."""
    if formatter.window is None:
        return state, EarlierDialog()
    said = state["utterances"]
    length = formatter.window
    if formatter.repeats:
        length += 2 * sum("#repeat" in one["text"] for one in said[-length:])
        assert formatter.widest is not None
        assert length <= formatter.widest
    before, shown = said[:-length], said[-length:]
    if not formatter.hypotheses:
        shown = [
            *({**one, "hypotheses": []} if "hypotheses" in one else one for one in shown[:-1]),
            shown[-1],
        ]
    window = {**state, **{key: dialog(*shown)[key] for key in LISTS}}
    counted = [one for one in before if "hypotheses" in one]
    return window, EarlierDialog(
        utterances=len(before) if formatter.counts else 0,
        human_utterances=len(counted) if formatter.counts else 0,
        active_skills=[one["active_skill"] for one in before if "active_skill" in one]
        if formatter.skills
        else (),
    )


LISTS = ("utterances", "human_utterances", "bot_utterances")
