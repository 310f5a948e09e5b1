"""The agent state JSON, field by field, and back."""

import string
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prolocutor.dialog.agent_state import (
    bot_from_state,
    decode_dialog,
    dialog_from_state,
    dialog_to_state,
    encode_dialog,
    human_from_state,
    hypothesis_from_state,
    hypothesis_to_state,
    utterance_from_state,
)
from prolocutor.dialog.dialog import (
    PROFILE_KEYS,
    Bot,
    BotUtterance,
    Dialog,
    Human,
    HumanUtterance,
    Hypothesis,
)
from prolocutor.errors import BadReply

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
objects = st.dictionaries(st.text(), values, max_size=3)
extras = st.dictionaries(st.text().map(lambda key: f"x{key}"), values, max_size=3)
ids = st.text(string.hexdigits.lower(), min_size=32, max_size=32)
confidences = st.sampled_from([0, 0.0, 1, 0.5, -1, 7])
texts = st.text()

humans = st.builds(
    Human,
    id=ids,
    user_external_id=texts,
    persona=st.lists(values, max_size=2) | objects,
    profile=st.builds(
        lambda known, more: {**dict.fromkeys(PROFILE_KEYS), **known, **more},
        st.dictionaries(st.sampled_from(PROFILE_KEYS), values),
        extras,
    ),
    attributes=objects,
    extra=extras,
)
bots = st.builds(
    Bot, id=ids, persona=st.lists(values, max_size=2) | objects, attributes=objects, extra=extras
)
hypotheses = st.builds(
    Hypothesis,
    skill_name=texts,
    text=texts,
    confidence=confidences,
    hypothesis_id=texts,
    annotations=objects,
    human_attributes=st.none() | objects,
    bot_attributes=st.none() | objects,
    extra=extras,
)
human_utterances = st.builds(
    HumanUtterance,
    utt_id=ids,
    text=texts,
    user=humans,
    date_time=texts,
    annotations=objects,
    hypotheses=st.lists(hypotheses, max_size=2),
    attributes=objects,
    extra=extras,
)
bot_utterances = st.builds(
    BotUtterance,
    utt_id=ids,
    text=texts,
    orig_text=st.none() | texts,
    active_skill=texts,
    confidence=confidences,
    user=bots,
    date_time=texts,
    annotations=objects,
    attributes=objects,
    extra=extras,
)
dialogs = st.builds(
    Dialog,
    dialog_id=ids,
    id=ids,
    human=humans,
    bot=bots,
    channel_type=texts,
    date_start=st.none() | texts,
    date_finish=st.none() | texts,
    active=st.booleans(),
    utterances=st.lists(human_utterances | bot_utterances, max_size=3),
    attributes=objects,
    rating=values,
    extra=extras,
)


def person() -> Human:
    return Human(id="a" * 32, user_external_id="ann", attributes={"mood": "good"})


def said_by_human() -> HumanUtterance:
    return HumanUtterance(
        utt_id="b" * 32,
        text="hi",
        user=person(),
        date_time="2024-05-01 10:00:00.000000",
        annotations={"ner": []},
        hypotheses=[Hypothesis(skill_name="chat", text="hello", confidence=0.0)],
        attributes={"device": "phone"},
    )


def said_by_bot() -> BotUtterance:
    return BotUtterance(
        utt_id="c" * 32,
        text="Hello.",
        orig_text="hello",
        active_skill="chat",
        confidence=0.0,
        user=Bot(id="d" * 32),
        date_time="2024-05-01 10:00:01.000000",
    )


def dialog() -> Dialog:
    return Dialog(
        dialog_id="e" * 32,
        id="f" * 32,
        human=person(),
        bot=Bot(id="d" * 32),
        channel_type="http_client",
        date_start="2024-05-01 10:00:00.000000",
        utterances=[said_by_human(), said_by_bot()],
    )


def test_a_dialog_is_written_field_by_field() -> None:
    state = dialog_to_state(dialog())
    assert {key: state[key] for key in state if key not in SHOWN_ELSEWHERE} == {
        "dialog_id": "e" * 32,
        "_id": "f" * 32,
        "_active": "True",
        "channel_type": "http_client",
        "date_start": "2024-05-01 10:00:00.000000",
        "date_finish": None,
        "rating": None,
        "attributes": {},
    }


SHOWN_ELSEWHERE = {"human", "bot", "utterances", "human_utterances", "bot_utterances"}


def test_a_person_is_written_field_by_field_with_all_eight_profile_keys() -> None:
    assert dialog_to_state(dialog())["human"] == {
        "id": "a" * 32,
        "user_external_id": "ann",
        "user_type": "human",
        "persona": [],
        "profile": {
            "name": None,
            "gender": None,
            "birthdate": None,
            "location": None,
            "home_coordinates": None,
            "work_coordinates": None,
            "occupation": None,
            "income_per_year": None,
        },
        "attributes": {"mood": "good"},
    }


def test_a_bot_has_neither_profile_nor_external_id() -> None:
    assert dialog_to_state(dialog())["bot"] == {
        "id": "d" * 32,
        "user_type": "bot",
        "persona": [],
        "attributes": {},
    }


def test_a_human_utterance_is_written_field_by_field() -> None:
    state = dialog_to_state(dialog())["human_utterances"][0]
    state["user"] = state["user"]["id"]
    assert state == {
        "utt_id": "b" * 32,
        "text": "hi",
        "user": "a" * 32,
        "annotations": {"ner": []},
        "hypotheses": [
            {"skill_name": "chat", "annotations": {}, "text": "hello", "confidence": 0.0}
        ],
        "date_time": "2024-05-01 10:00:00.000000",
        "attributes": {"device": "phone"},
    }


def test_a_bot_utterance_is_written_field_by_field() -> None:
    state = dialog_to_state(dialog())["bot_utterances"][0]
    state["user"] = state["user"]["id"]
    assert state == {
        "utt_id": "c" * 32,
        "text": "Hello.",
        "orig_text": "hello",
        "active_skill": "chat",
        "confidence": 0.0,
        "user": "d" * 32,
        "annotations": {},
        "date_time": "2024-05-01 10:00:01.000000",
        "attributes": {},
    }


def test_the_utterances_stand_again_in_the_split_lists() -> None:
    state = dialog_to_state(dialog())
    assert state["utterances"] == [*state["human_utterances"], *state["bot_utterances"]]


def test_a_confidence_of_nothing_stays_nothing() -> None:
    again = decode_dialog(encode_dialog(dialog()))
    hypothesis = again.utterances[0].hypotheses[0]  # type: ignore[union-attr]
    assert again.utterances[1].confidence == 0  # type: ignore[union-attr]
    assert hypothesis.confidence == 0


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(dialogs)
def test_dialogs_come_back_as_they_went(dialog: Dialog) -> None:
    assert decode_dialog(encode_dialog(dialog)) == dialog


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(dialogs)
def test_the_state_of_a_dialog_does_not_change_by_being_read(dialog: Dialog) -> None:
    state = dialog_to_state(dialog)
    assert dialog_to_state(dialog_from_state(state)) == state


@given(st.characters(exclude_categories=("Cs",)))
def test_every_unicode_scalar_value_comes_back(character: str) -> None:
    there = dialog()
    there.attributes = {character: character}
    there.utterances[0].text = character
    assert decode_dialog(encode_dialog(there)) == there


def test_attributes_that_a_hypothesis_did_not_give_stay_absent() -> None:
    state = hypothesis_to_state(Hypothesis(skill_name="chat", text="hi", confidence=1))
    assert "human_attributes" not in state
    assert "bot_attributes" not in state


def test_every_key_that_a_skill_added_comes_back() -> None:
    state = {
        "skill_name": "chat",
        "annotations": {},
        "text": "hi",
        "confidence": 1,
        "can_continue": "must",
        "prompts_goals": {"a": [1]},
    }
    assert hypothesis_to_state(hypothesis_from_state(state)) == state


def test_old_states_without_the_newer_keys_are_read() -> None:
    read = dialog_from_state(
        {"dialog_id": "1", "_id": "2", "human": {"id": "3", "user_external_id": "ann"},
         "bot": {"id": "4"}}
    )  # fmt: skip
    assert read.active is True
    assert read.rating is None
    assert read.utterances == []
    assert read.attributes == {}


def test_profile_keys_that_are_missing_become_null() -> None:
    human = human_from_state({"id": "1", "user_external_id": "ann", "profile": {"name": "Ann"}})
    assert human.profile == {**dict.fromkeys(PROFILE_KEYS), "name": "Ann"}


def test_personas_start_empty() -> None:
    assert human_from_state({"id": "1", "user_external_id": "ann"}).persona == []
    assert bot_from_state({"id": "1"}).persona == []


def test_two_dialogs_never_share_their_first_values() -> None:
    one, other = person(), Human(id="1", user_external_id="bob")
    one.profile["name"] = "Ann"
    one.persona.append("I swim.")  # type: ignore[union-attr]
    assert other.profile["name"] is None
    assert other.persona == []


def test_who_spoke_is_told_by_the_active_skill() -> None:
    state = dialog_to_state(dialog())
    kinds = [type(utterance_from_state(utterance)) for utterance in state["utterances"]]
    assert kinds == [HumanUtterance, BotUtterance]


def test_a_closed_dialog_is_not_active() -> None:
    closed = dialog()
    closed.active = False
    assert dialog_to_state(closed)["_active"] == "False"
    assert decode_dialog(encode_dialog(closed)).active is False


def test_a_dialog_as_deep_as_its_services_may_make_it_comes_back() -> None:
    deep: Any = "bottom"
    for _ in range(63):
        deep = [deep]
    there = dialog()
    there.utterances[0].annotations["deep"] = deep
    assert decode_dialog(encode_dialog(there)) == there


def test_invalid_json_is_no_dialog() -> None:
    with pytest.raises(BadReply):
        decode_dialog(b"{")
