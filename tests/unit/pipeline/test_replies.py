"""What each stage may answer, and what is done with it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.dialog import plain
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply
from prolocutor.pipeline import replies
from prolocutor.plan.pipeline import Pipeline
from tests.unit.pipeline.talk import (
    FALLBACK,
    Talk,
    errors,
    hypothesis,
    outcomes,
    picks,
    says,
    skill,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "text confidence skill_name hypothesis hypotheses human_attributes bot_attributes "
                "attributes annotations messages ask schedule unschedule type key at x".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)
NO_HYPOTHESES: list[Any] = [None, 5, True, [None], ["hello"], [["hello"]], [{}]]
NO_CONFIDENCES: list[Any] = [None, True, False, "0.5", [0.5], {}, 10**400]


async def spoken(*replies: Any) -> str:
    return await Talk(Pipeline(skills=[says("chat", *replies)])).say()


@pytest.mark.parametrize("annotation", [None, 5, "neutral", ["neutral"], {"tokens": ["Paris"]}])
async def test_an_annotator_may_answer_anything(annotation: Any) -> None:
    turn = await Talk(Pipeline(annotators=[says("ner", annotation)], skills=[skill()])).turn()
    assert turn.draft.annotations() == {"ner": annotation}


async def test_a_skill_answers_a_list_of_hypotheses() -> None:
    assert await spoken([hypothesis("one", 0.1), hypothesis("two", 0.2)]) == "two"


async def test_a_bare_hypothesis_is_a_list_of_one() -> None:
    assert await spoken(hypothesis("alone")) == "alone"


async def test_a_bare_text_is_a_hypothesis_of_medium_confidence() -> None:
    turn = await Talk(Pipeline(skills=[says("chat", "hello")])).turn()
    assert turn.draft.final_reply().text == "hello"
    assert turn.draft.final_reply().confidence == 0.5


@pytest.mark.parametrize("text", ["", " \n"])
async def test_who_says_nothing_never_wins(text: str) -> None:
    silent = [hypothesis(text, 1.0), {"text": text, "confidence": 1, "messages": []}]
    turn = await Talk(Pipeline(skills=[says("silent", silent), skill(confidence=0.1)])).turn()
    assert turn.draft.final_reply().text == "hello"
    assert [fault["service"] for fault in turn.faults] == ["silent", "silent"]


async def test_a_hypothesis_without_words_may_be_chosen_where_the_pipeline_alone_decides() -> None:
    silent = says("silent", [hypothesis("", 1.0)])
    selector = says("best", {"skill_name": "silent", "text": "", "confidence": 1.0})
    pipeline = Pipeline(skills=[silent, skill()], response_selector=selector, own_words=False)
    turn = await Talk(pipeline).turn()
    assert turn.draft.final_reply().text == ""
    assert turn.faults == []


async def test_an_empty_text_without_confidence_is_no_fault() -> None:
    turn = await Talk(Pipeline(skills=[says("chat", [hypothesis("", 0.0)])])).turn()
    assert turn.draft.final_reply().text == FALLBACK
    assert outcomes(turn) == {"chat": "done"}
    assert turn.faults == []


async def test_a_response_selector_that_says_nothing_has_failed() -> None:
    selector = says("best", {"skill_name": "chat", "text": "", "confidence": 1.0})
    turn = await Talk(Pipeline(skills=[skill()], response_selector=selector)).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["best"] == "failed"


async def test_a_skill_may_have_nothing_to_say() -> None:
    turn = await Talk(Pipeline(skills=[says("chat", [])])).turn()
    assert turn.draft.final_reply().text == FALLBACK
    assert outcomes(turn) == {"chat": "done"}


@pytest.mark.parametrize("reply", NO_HYPOTHESES)
async def test_an_invalid_hypothesis_is_the_skills_failure(reply: Any) -> None:
    turn = await Talk(Pipeline(skills=[says("broken", reply), skill()])).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn) == {"broken": "failed", "chat": "done"}


@pytest.mark.parametrize("confidence", NO_CONFIDENCES)
async def test_a_hypothesis_without_a_number_for_its_confidence_is_refused(confidence: Any) -> None:
    turn = await Talk(Pipeline(skills=[says("broken", [hypothesis("no", confidence)])])).turn()
    assert turn.draft.final_reply().text == FALLBACK
    assert "$[0].confidence" in (errors(turn)["broken"] or "")


async def test_a_hypothesis_without_confidence_is_refused() -> None:
    assert await spoken([{"text": "no"}]) == FALLBACK


async def test_a_hypothesis_whose_confidence_is_nan_is_refused() -> None:
    turn = await Talk(Pipeline(skills=[says("chat", [hypothesis("no", float("nan"))])])).turn()
    assert "$[0].confidence" in (errors(turn)["chat"] or "")


@pytest.mark.parametrize("confidence", [-3, 7.5, 10**300, 0])
async def test_a_confidence_outside_of_zero_to_one_is_kept(confidence: float) -> None:
    turn = await Talk(Pipeline(skills=[skill(confidence=confidence)])).turn()
    assert turn.draft.final_reply().confidence == confidence


async def test_of_several_hypotheses_only_the_bad_ones_are_refused() -> None:
    turn = await Talk(Pipeline(skills=[says("chat", [hypothesis("fine"), {"text": "no"}])])).turn()
    assert [one["text"] for one in turn.draft.hypotheses()] == ["fine"]
    assert [fault["service"] for fault in turn.faults] == ["chat"]


async def test_a_hundred_hypotheses_are_enough() -> None:
    many = [hypothesis(str(n)) for n in range(101)]
    assert await spoken(many[:100]) == "0"
    assert await spoken(many) == FALLBACK


@pytest.mark.parametrize("wrong", [5, 1.0, [], {"a": 1}])
async def test_whether_a_skill_can_continue_is_a_truth_value_or_a_word(wrong: Any) -> None:
    right = [hypothesis(can_continue=value) for value in (True, False, None, "must", "no")]
    assert len((await Talk(Pipeline(skills=[says("s", right)])).turn()).draft.all_hypotheses()) == 5
    turn = await Talk(Pipeline(skills=[says("s", [hypothesis(can_continue=wrong)])])).turn()
    assert "$[0].can_continue: expected true, false or a text" in (errors(turn)["s"] or "")


@pytest.mark.parametrize("key", ["human_attributes", "bot_attributes", "annotations", "attributes"])
async def test_members_of_a_hypothesis_must_be_objects(key: str) -> None:
    assert await spoken([hypothesis(**{key: ["no object"]})]) == FALLBACK


async def test_a_hypothesis_may_have_messages_instead_of_a_text() -> None:
    messages = [{"type": "picture", "url": "a"}, {"type": "text", "text": "Look!"}]
    assert await spoken([{"messages": messages, "confidence": 1}]) == "Look!"


@pytest.mark.parametrize("reply", [None, "hello", [], {}, {"text": 5}, {"skill_name": "chat"}, 5])
async def test_an_invalid_choice_is_the_response_selectors_failure(reply: Any) -> None:
    turn = await Talk(Pipeline(skills=[skill()], response_selector=says("broken", reply))).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["broken"] == "failed"


@pytest.mark.parametrize(
    "choice",
    [
        {"hypothesis": "chat.9"},
        {"hypothesis": "nobody.0"},
        {"hypothesis": 5},
        {"hypothesis": "chat." + "9" * 5000},
        {"hypothesis": "chat.٠"},
        {"hypotheses": []},
        {"hypotheses": "chat.0"},
        {"hypotheses": ["chat.0", "chat.1"]},
        {"skill_name": "nobody"},
    ],
)
async def test_a_choice_of_an_unknown_hypothesis_is_refused(choice: dict[str, Any]) -> None:
    pipeline = Pipeline(skills=[skill()], response_selector=picks(text="chosen", **choice))
    turn = await Talk(pipeline).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["selector"] == "failed"


@pytest.mark.parametrize("reply", [None, 5, ["new"], {"text": "new"}])
async def test_a_postprocessor_gives_a_text(reply: Any) -> None:
    turn = await Talk(Pipeline(skills=[skill()], postprocessors=[says("broken", reply)])).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["broken"] == "failed"


@pytest.mark.parametrize("reply", ["Sorry.", {"text": "Sorry."}, [{"text": "Sorry."}]])
async def test_a_last_chance_gives_a_text_or_an_object_with_one(reply: Any) -> None:
    pipeline = Pipeline(skills=[says("chat", [])], last_chance=says("last", reply))
    assert await Talk(pipeline).say() == "Sorry."


@pytest.mark.parametrize("reply", ["everybody", 5, {"chat": 1}, [5], [None], [["chat"]]])
async def test_a_selection_other_than_a_list_of_names_is_the_skill_selectors_failure(
    reply: Any,
) -> None:
    turn = await Talk(Pipeline(skill_selector=says("broken", reply), skills=[skill()])).turn()
    assert turn.draft.final_reply().text == "hello"
    assert outcomes(turn)["broken"] == "failed"


@given(JSON)
def test_whatever_a_skill_says_is_read_or_refused(value: Any) -> None:
    faults: list[str] = []
    try:
        read = replies.hypotheses(Plain(value, plain.encode(value)), faults.append)
    except BadReply:
        return
    assert all(isinstance(one.value["text"], str) for one in read)
    assert all(one.checked is None or plain.decode(one.checked) == one.value for one in read)


@given(JSON)
def test_whatever_the_other_stages_say_is_read_or_refused(value: Any) -> None:
    readers: list[Any] = [
        lambda: replies.read_selection(value, ["chat"], lambda what: None),
        lambda: replies.choice(value, lambda one: one == "chat.0"),
        lambda: replies.read_rewritten_text(value),
        lambda: replies.last_words(value),
    ]
    for read in readers:
        try:
            read()
        except BadReply:
            continue
