"""The agent state after a turn, as the seed has it."""

from typing import Any

import pytest

from prolocutor.dialog.agent_state import State
from prolocutor.plan.pipeline import Pipeline
from tests.unit.pipeline.talk import (
    FALLBACK,
    Talk,
    asked,
    hypothesis,
    picks,
    says,
    skill,
)

TEXT = {"type": "text", "text": "hello"}


async def after(pipeline: Pipeline, **options: Any) -> tuple[State, State, State]:
    """Take one turn; give the stored dialog, its human utterance, its bot utterance."""
    talk = Talk(pipeline, **options)
    await talk.turn()
    state = await talk.state()
    return state, state["human_utterances"][0], state["bot_utterances"][0]


async def human_after(attributes: dict[str, Any], **options: Any) -> State:
    """Return the person after a skill said this of them."""
    said = skill(human_attributes=attributes)
    state, _, _ = await after(Pipeline(skills=[said]), **options)
    human: State = state["human"]
    return human


# -- slots ------------------------------------------------------------------------------------


async def test_every_service_fills_the_slot_named_after_it() -> None:
    pipeline = Pipeline(
        annotators=[says("ner", {"tags": []}), says("mood", "good")],
        skills=[skill()],
        candidate_annotators=[says("toxic", 0.1)],
        response_selector=picks(),
        response_annotators=[says("after", ["checked"])],
    )
    _, human, bot = await after(pipeline)
    assert human["annotations"] == {"ner": {"tags": []}, "mood": "good"}
    assert human["hypotheses"][0]["annotations"] == {"toxic": 0.1}
    assert bot["annotations"] == {"toxic": 0.1, "after": ["checked"]}


async def test_skills_of_one_label_are_selected_and_shown_by_it() -> None:
    pipeline = Pipeline(
        skill_selector=says("selector", ["chat"]),
        skills=[
            says("chat", hypothesis()),
            says("chat_too", hypothesis(), label="chat"),
        ],
    )
    _, human, bot = await after(pipeline)
    assert [one["skill_name"] for one in human["hypotheses"]] == ["chat", "chat"]
    assert bot["active_skill"] == "chat"


async def test_services_of_one_name_in_two_stages_do_not_share_a_slot() -> None:
    pipeline = Pipeline(
        annotators=[says("sentseg", "in")],
        skills=[skill()],
        response_selector=picks(),
        response_annotators=[says("sentseg", "out")],
    )
    _, human, bot = await after(pipeline)
    assert human["annotations"] == {"sentseg": "in"}
    assert bot["annotations"] == {"sentseg": "out"}


async def test_a_hypothesis_keeps_every_key_that_its_skill_gave() -> None:
    said = skill(human_attributes={"name": "Vasily"}, any_key=["any", {"value": None}])
    _, human, _ = await after(Pipeline(skills=[said]))
    assert human["hypotheses"] == [
        {
            "skill_name": "chat",
            "text": "hello",
            "confidence": 0.5,
            "human_attributes": {"name": "Vasily"},
            "any_key": ["any", {"value": None}],
            "hypothesis_id": "chat.0",
            "annotations": {},
        }
    ]


async def test_a_skill_may_call_itself_otherwise_but_keeps_its_slot_and_id() -> None:
    said = says("chat", [hypothesis(skill_name="other", hypothesis_id="mine"), hypothesis()])
    _, human, _ = await after(Pipeline(skills=[said]))
    names = [(one["skill_name"], one["hypothesis_id"]) for one in human["hypotheses"]]
    assert names == [("other", "chat.0"), ("chat", "chat.1")]


async def test_annotations_that_a_skill_gives_stand_beside_those_of_annotators() -> None:
    pipeline = Pipeline(
        skills=[skill(annotations={"own": 1})], candidate_annotators=[says("toxic", 0)]
    )
    _, human, _ = await after(pipeline)
    assert human["hypotheses"][0]["annotations"] == {"own": 1, "toxic": 0}


# -- the reply --------------------------------------------------------------------------------


async def test_a_selector_overwrites_the_reply_and_leaves_the_hypothesis() -> None:
    pipeline = Pipeline(
        skills=[skill(text="hello", confidence=0.33, human_attributes={"name": "Vasily"})],
        response_selector=picks(
            text="Hello, Joe!", confidence=0.9, human_attributes={"name": "Ivan"}
        ),
    )
    state, human, bot = await after(pipeline)
    assert bot["text"] == "Hello, Joe!"
    assert bot["confidence"] == 0.9
    assert bot["active_skill"] == "chat"
    assert state["human"]["profile"]["name"] == "Ivan"
    said = human["hypotheses"][0]
    assert said["text"] == "hello"
    assert said["confidence"] == 0.33
    assert said["human_attributes"] == {"name": "Vasily"}


async def test_the_original_text_is_the_response_selectors() -> None:
    pipeline = Pipeline(
        skills=[skill()],
        response_selector=picks(text="chosen"),
        postprocessors=[says("first", "once"), says("second", "twice")],
    )
    _, _, bot = await after(pipeline)
    assert bot["text"] == "twice"
    assert bot["orig_text"] == "chosen"


async def test_without_a_postprocessor_both_texts_are_the_same() -> None:
    _, _, bot = await after(Pipeline(skills=[skill()]))
    assert bot["text"] == "hello"
    assert bot["orig_text"] == "hello"


async def test_postprocessors_run_in_declared_order_each_seeing_the_text_before() -> None:
    first, second = says("first", "once"), says("second", "twice")
    await after(Pipeline(skills=[skill()], postprocessors=[first, second]))
    seen = [asked(one)[0]["utterances"][-1]["text"] for one in (first, second)]
    assert seen == ["hello", "once"]


async def test_without_a_response_selector_the_highest_confidence_wins() -> None:
    skills = [skill("a", "low", 0.1), skill("b", "high", 0.9), skill("c", "middle", 0.5)]
    assert await Talk(Pipeline(skills=skills)).say() == "high"


async def test_equal_confidences_go_to_the_first_declared() -> None:
    assert await Talk(Pipeline(skills=[skill("b", "b", 0.5), skill("a", "a", 0.5)])).say() == "b"


async def test_the_second_response_selector_is_asked_only_where_the_first_failed() -> None:
    broken, sound, unasked = says("broken", None), picks(text="chosen"), says("third", None)
    pipeline = Pipeline(skills=[skill()], response_selector=[broken, sound, unasked])
    assert await Talk(pipeline).say() == "chosen"
    assert len(asked(unasked)) == 0


async def test_the_ways_out_come_in_their_order() -> None:
    sound = Pipeline(skills=[skill()], response_selector=says("broken", None))
    saved = Pipeline(
        skills=[skill()],
        response_selector=says("broken", None),
        last_chance=says("last", {"text": "Sorry.", "annotations": {"sorry": True}}),
    )
    nothing = Pipeline(skills=[says("broken", None)], response_selector=says("unasked"))
    assert [await Talk(p).say() for p in (saved, sound, nothing)] == ["Sorry.", "hello", FALLBACK]


async def test_the_last_chance_is_stored_with_its_name_no_confidence_and_its_annotations() -> None:
    pipeline = Pipeline(
        skills=[says("chat", [])],
        last_chance=says("last", {"text": "Sorry.", "annotations": {"sorry": True}}),
    )
    _, _, bot = await after(pipeline)
    stored = (bot["active_skill"], bot["confidence"], bot["annotations"])
    assert stored == ("last", 0.0, {"sorry": True})


# -- which hypothesis is meant ----------------------------------------------------------------

TWO = [hypothesis("one", 0.9, human_attributes={"n": 1}),
       hypothesis("two", 0.1, human_attributes={"n": 2})]  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "n"),
    [
        ({"hypothesis": "chat.1", "text": "one"}, 2),
        ({"text": "two"}, 2),
        ({"text": "one"}, 1),
        ({"text": "something else"}, 1),
    ],
)
async def test_the_chosen_hypothesis_is_named_or_equal_or_most_confident(
    choice: dict[str, Any], n: int
) -> None:
    pipeline = Pipeline(skills=[says("chat", TWO)], response_selector=picks(**choice))
    state, _, _ = await after(pipeline)
    assert state["human"]["attributes"] == {"n": n}


async def test_a_skill_is_found_by_the_name_that_it_gave_itself_too() -> None:
    said = says("chat", [hypothesis(skill_name="other", human_attributes={"n": 1})])
    for name in ("other", "chat"):
        pipeline = Pipeline(skills=[said], response_selector=picks(skill_name=name))
        state, _, bot = await after(pipeline)
        assert state["human"]["attributes"] == {"n": 1}
        assert bot["active_skill"] == "chat"


async def test_a_name_that_a_skill_gives_itself_is_not_taken_for_another_skill() -> None:
    poser = says("a", [hypothesis(skill_name="b", confidence=0.9, human_attributes={"who": "a"})])
    honest = says("b", [hypothesis(confidence=0.3, human_attributes={"who": "b"})])
    pipeline = Pipeline(skills=[poser, honest], response_selector=picks(skill_name="b"))
    state, _, _ = await after(pipeline)
    assert state["human"]["attributes"] == {"who": "b"}


async def test_a_key_of_its_own_does_not_make_a_hypothesis_another() -> None:
    impostor = says("impostor", [hypothesis(hypothesis_id="chat.0", human_attributes={"n": 9})])
    honest = skill(human_attributes={"n": 1})
    pipeline = Pipeline(skills=[impostor, honest], response_selector=picks(hypothesis="chat.0"))
    state, _, _ = await after(pipeline)
    assert state["human"]["attributes"] == {"n": 1}


async def test_a_composed_reply_merges_the_attributes_of_all_that_it_names_in_that_order() -> None:
    skills = [
        skill("a", human_attributes={"x": "a", "y": "a", "z": "a"}, bot_attributes={"b": "a"}),
        skill("b", human_attributes={"x": "b", "y": "b"}),
        skill("c", human_attributes={"w": "unnamed"}),
    ]
    composed = picks(
        skill_name="a",
        text="both",
        hypotheses=["b.0", "a.0"],
        human_attributes={"x": "selector"},
    )
    state, _, bot = await after(Pipeline(skills=skills, response_selector=composed))
    assert state["human"]["attributes"] == {"x": "selector", "y": "a", "z": "a"}
    assert state["bot"]["attributes"] == {"b": "a"}
    assert bot["text"] == "both"


async def test_annotations_of_a_composed_reply_are_not_merged() -> None:
    pipeline = Pipeline(
        skills=[skill("a"), skill("b")],
        candidate_annotators=[says("toxic", 0)],
        response_selector=picks(skill_name="a", hypotheses=["a.0", "b.0"]),
    )
    _, _, bot = await after(pipeline)
    assert bot["annotations"] == {}


async def test_missing_parts_of_a_choice_come_from_the_chosen_hypothesis() -> None:
    said = skill(attributes={"mood": "good"}, messages=[TEXT], ask="number")
    _, _, bot = await after(Pipeline(skills=[said], response_selector=picks()))
    assert bot["attributes"] == {
        "mood": "good",
        "messages": [TEXT],
        "ask": "number",
    }


async def test_parts_of_a_choice_go_before_the_chosen_hypothesis() -> None:
    said = skill(attributes={"mood": "good"}, messages=[TEXT], ask="number")
    chosen = picks(attributes={}, messages=[], ask="date", annotations={"own": 1})
    _, _, bot = await after(Pipeline(skills=[said], response_selector=chosen))
    assert bot["attributes"] == {"ask": "date"}
    assert bot["annotations"] == {"own": 1}


async def test_a_rewritten_text_replaces_the_first_text_message() -> None:
    messages = [
        {"type": "picture", "url": "c"},
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
    ]
    pipeline = Pipeline(skills=[skill(messages=messages)], postprocessors=[says("post", "new")])
    _, _, bot = await after(pipeline)
    assert [message.get("text") for message in bot["attributes"]["messages"]] == [None, "new", "b"]


# -- what becomes of the profiles -------------------------------------------------------------


async def test_a_profile_key_is_overwritten_in_the_profile() -> None:
    human = await human_after({"name": "Vasily"})
    assert human["profile"]["name"] == "Vasily"
    assert human["attributes"] == {}


async def test_a_known_key_is_overwritten_whole() -> None:
    human = await human_after({"persona": ["I swim."], "attributes": {"only": 1}})
    assert human["persona"] == ["I swim."]
    assert human["attributes"] == {"only": 1}


async def test_a_profile_that_is_overwritten_keeps_its_eight_keys() -> None:
    human = await human_after({"profile": {"name": "Ann", "shoes": 38}})
    assert len(human["profile"]) == 9
    assert human["profile"]["name"] == "Ann"
    assert human["profile"]["gender"] is None


async def test_an_unknown_key_goes_under_attributes() -> None:
    human = await human_after({"mood": {"good": True}})
    assert human["attributes"] == {"mood": {"good": True}}


async def test_a_bot_has_no_profile_so_its_keys_go_under_attributes() -> None:
    said = skill(bot_attributes={"persona": ["I swim."], "name": "Joe", "profile": {"a": 1}})
    state, _, _ = await after(Pipeline(skills=[said]))
    assert state["bot"]["persona"] == ["I swim."]
    assert state["bot"]["attributes"] == {"name": "Joe", "profile": {"a": 1}}


@pytest.mark.parametrize("key", ["id", "user_external_id", "user_type"])
async def test_protected_keys_are_dropped_with_a_recorded_warning(key: str) -> None:
    said = skill(human_attributes={key: "stolen", "x": 1}, bot_attributes={key: "stolen"})
    talk = Talk(Pipeline(skills=[said]))
    turn = await talk.turn()
    state = await talk.state()
    assert "stolen" not in (state["human"].get(key), state["bot"].get(key))
    assert state["human"]["attributes"] == {"x": 1}
    assert [fault["what"] for fault in turn.faults] == [f"may not change '{key}'"] * 2


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("persona", "a text"),
        ("persona", None),
        ("profile", ["name"]),
        ("profile", None),
        ("attributes", []),
        ("attributes", 5),
    ],
)
async def test_parts_of_a_person_keep_their_kind(key: str, value: Any) -> None:
    human = await human_after({key: value})
    assert human["persona"] == []
    assert len(human["profile"]) == 8
    assert human["attributes"] == {}


async def test_a_persona_may_be_an_object() -> None:
    assert (await human_after({"persona": {"likes": "tea"}}))["persona"] == {"likes": "tea"}


async def test_a_value_that_only_looks_equal_is_a_change() -> None:
    talk = Talk(Pipeline(skills=[says("chat", *(
        [hypothesis(human_attributes={"flags": flags, "persona": flags})]
        for flags in ([1, 0], [True, False])
    ))]))  # fmt: skip
    await talk.turn()
    await talk.turn()
    human = (await talk.state())["human"]
    assert human["attributes"]["flags"] == [True, False]
    assert [type(flag) for flag in human["attributes"]["flags"] + human["persona"]] == [bool] * 4


async def test_attributes_are_bounded_and_known_ones_can_still_change() -> None:
    many = {f"a{n}": n for n in range(5)}
    human = await human_after({**many, "a0": "changed"}, max_attributes=3)
    assert human["attributes"] == {"a0": "changed", "a1": 1, "a2": 2}


async def test_attributes_beyond_the_limit_are_dropped_with_a_recorded_warning() -> None:
    turn = await Talk(
        Pipeline(skills=[skill(human_attributes={"a": 1, "attributes": {"b": 1, "c": 2}})]),
        max_attributes=1,
    ).turn()
    assert [fault["what"] for fault in turn.faults] == ["2 attributes, more than the 1 allowed"]


async def test_updates_show_in_the_same_human_utterance_and_the_next_of_the_bot() -> None:
    talk = Talk(
        Pipeline(
            skills=[
                says(
                    "chat",
                    [hypothesis(human_attributes={"name": "Ann"}, bot_attributes={"b": 1})],
                    [hypothesis(human_attributes={"name": "Bob"}, bot_attributes={"b": 2})],
                )
            ]
        )
    )
    await talk.turn()
    await talk.turn()
    state = await talk.state()
    assert [utterance["user"]["profile"]["name"] for utterance in state["human_utterances"]] == [
        "Ann",
        "Bob",
    ]
    assert [utterance["user"]["attributes"]["b"] for utterance in state["bot_utterances"]] == [1, 2]


async def test_attributes_of_hypotheses_that_lost_change_nothing() -> None:
    skills = [skill("a", "lost", 0.1, human_attributes={"x": 1}), skill("b", "won", 0.9)]
    state, _, _ = await after(Pipeline(skills=skills))
    assert state["human"]["attributes"] == {}


async def test_the_fallback_text_changes_nothing() -> None:
    said = says("chat", [{"text": "no", "human_attributes": {"x": 1}}])
    state, _, bot = await after(Pipeline(skills=[said]))
    assert state["human"]["attributes"] == {}
    assert bot["text"] == FALLBACK


async def test_ids_are_32_hex_and_the_same_from_the_first_moment() -> None:
    annotator = says("first", None)
    talk = Talk(Pipeline(annotators=[annotator], skills=[skill()]))
    await talk.turn()
    await talk.turn()
    state = await talk.state()
    for seen in asked(annotator):
        for key in ("dialog_id", "_id"):
            assert seen[key] == state[key]
            assert len(bytes.fromhex(seen[key])) == 16
        assert seen["human"]["id"] == state["human"]["id"]
        assert seen["date_start"] == state["date_start"]


async def test_a_first_turn_has_no_finish_and_a_second_one_the_time_of_the_first_reply() -> None:
    annotator = says("first", None, window=1)
    talk = Talk(Pipeline(annotators=[annotator], skills=[says("chat", hypothesis(), window=1)]))
    await talk.turn()
    first = (await talk.state())["date_finish"]
    await talk.turn()
    assert [seen["date_finish"] for seen in asked(annotator)] == [None, first]


@pytest.mark.parametrize(("first", "text"), [(True, "the end"), (False, "hello")])
async def test_the_last_chance_comes_before_the_most_confident_hypothesis_or_after(
    first: bool, text: str
) -> None:
    broken = says("selector", ValueError("broken"))
    last = says("last", "the end", before_confidence=first)
    talk = Talk(Pipeline(skills=[skill()], response_selector=broken, last_chance=last))

    assert await talk.say() == text
