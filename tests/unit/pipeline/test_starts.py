"""How a turn can start: who is asked, who is not, how sure they must be, what is said otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.dialog.inputs import DirectReply
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.pipeline.talk import (
    FALLBACK,
    Stubborn,
    Talk,
    asked,
    errors,
    hypothesis,
    outcomes,
    picks,
    says,
    skill,
)

OWN = DirectReply(messages=[{"type": "text", "text": "Well?"}], ask="number", skill="asks")
QUIET = DirectReply()


def text_and_way(turn: Any) -> tuple[str, str]:
    reply = turn.draft.final_reply()
    return reply.text, reply.by


# -- say --------------------------------------------------------------------------------------


async def test_a_given_reply_is_said_without_asking_anybody() -> None:
    pipeline = Pipeline(
        annotators=[says("ner", 1)], skills=[skill()], postprocessors=[says("p", "")]
    )
    turn = await Talk(pipeline).turn(say=OWN)
    assert text_and_way(turn) == ("Well?", "assistant")
    assert set(outcomes(turn).values()) == {"skipped"}
    assert not asked(pipeline.skills[0])


async def test_the_assistants_own_words_stand_in_the_state() -> None:
    talk = Talk(Pipeline(skills=[skill()]))
    await talk.turn(say=OWN)
    [bot] = (await talk.state())["bot_utterances"]
    assert bot["active_skill"] == "asks"
    assert bot["attributes"] == {"messages": OWN.messages, "ask": "number"}


async def test_without_messages_a_turn_is_silent() -> None:
    reply = (await Talk(Pipeline(skills=[skill()])).turn(say=QUIET)).draft.final_reply()
    assert reply.silent is True
    assert reply.text == ""
    assert reply.says_something is False


async def test_words_without_a_text_are_rendered_as_one() -> None:
    words = DirectReply(messages=[{"type": "choice", "idx": 0, "title": "Tea"}])
    turn = await Talk(Pipeline(skills=[skill()])).turn(say=words)
    assert "Tea" in turn.draft.final_reply().text


# -- excluded, least, otherwise ---------------------------------------------------------------


@pytest.mark.parametrize("after", [None, []])
@pytest.mark.parametrize("selector", [None, says("selector", ["a", "b"])])
async def test_a_skill_that_is_excluded_is_not_asked(
    selector: Service | None, after: list[str] | None
) -> None:
    skills = [says(name, hypothesis(name), after=after) for name in ("a", "b")]
    turn = await Talk(Pipeline(skill_selector=selector, skills=skills)).turn(excluded="a")
    assert turn.draft.final_reply().text == "b"
    assert outcomes(turn)["a"] == "skipped"
    assert asked(skills[0]) == []


async def test_where_the_only_skill_is_excluded_the_other_words_are_said() -> None:
    last = says("last", "last words")
    pipeline = Pipeline(skills=[skill()], last_chance=last, response_selector=picks())
    turn = await Talk(pipeline).turn(excluded="chat", otherwise=OWN)
    assert text_and_way(turn) == ("Well?", "assistant")
    assert asked(last) == []


async def test_who_is_not_sure_enough_does_not_count() -> None:
    annotator = says("annotator", 1)
    pipeline = Pipeline(
        skills=[skill("a", "a", 0.7), skill("b", "b", 0.8)],
        candidate_annotators=[annotator],
        response_selector=picks(skill_name="a", text="a"),
    )
    turn = await Talk(pipeline).turn(least=0.8)
    assert text_and_way(turn) == ("b", "confidence")
    assert [one["text"] for one in turn.draft.hypotheses()] == ["b"]
    assert len(asked(annotator)) == 1
    [remark] = turn.remarks
    assert remark == {"service": "a", "what": "a hypothesis of 0.7 does not count: it takes 0.8"}
    assert turn.faults == []


async def test_where_nobody_is_sure_enough_the_other_words_are_said() -> None:
    turn = await Talk(Pipeline(skills=[skill()])).turn(least=0.8, otherwise=OWN)
    assert text_and_way(turn) == ("Well?", "assistant")


async def test_where_nobody_is_sure_enough_and_nothing_else_is_to_be_said_the_fallback_is() -> None:
    assert await Talk(Pipeline(skills=[skill()])).say(least=0.8) == FALLBACK


async def test_other_words_are_not_said_where_there_is_a_hypothesis() -> None:
    assert await Talk(Pipeline(skills=[skill()])).say(otherwise=OWN) == "hello"


@pytest.mark.parametrize("selector", [None, picks(text="")])
async def test_other_words_are_said_in_place_of_a_reply_that_says_nothing(
    selector: Service | None,
) -> None:
    quiet = skill(text="", human_attributes={"kept": 1})
    talk = Talk(Pipeline(skills=[quiet], response_selector=selector))
    assert await talk.say(otherwise=OWN) == "Well?"
    assert (await talk.state())["human"]["attributes"] == {"kept": 1}


async def test_other_words_are_said_when_the_time_is_over() -> None:
    with Stubborn() as stubborn:
        talk = Talk(Pipeline(skills=[Service("slow", stubborn)]), deadline=0.05)
        assert await talk.say(otherwise=OWN) == "Well?"


# -- telling a skill after the reply ----------------------------------------------------------


async def told(service: Service, **start: Any) -> tuple[Talk, Any]:
    """Take a turn that does not ask a service, then tell it something."""
    talk = Talk(Pipeline(skills=[skill(human_attributes={"chat": 1}), service]))
    begun_turn = await _turn_and_tell(talk, service.name, **start)
    return talk, begun_turn


async def _turn_and_tell(talk: Talk, name: str, **start: Any) -> Any:
    run = talk.engine.run

    async def runs(*given: Any) -> Any:
        turn = await run(*given)
        await talk.engine.tell(turn, name, {"answer": {"kind": "cancelled"}})
        return turn

    talk.engine.run = runs  # type: ignore[method-assign]
    return await talk.turn(excluded=name, **start)


async def test_attributes_of_a_told_skill_count_and_its_words_do_not() -> None:
    other = says(
        "other",
        [hypothesis("no", 0.1, human_attributes={"no": 1}), hypothesis(human_attributes={"x": 2})],
    )
    talk, turn = await told(other)
    assert turn.draft.final_reply().text == "hello"
    assert (await talk.state())["human"]["attributes"] == {"chat": 1, "x": 2}
    [request] = asked(other)
    assert request["answer"] == {"kind": "cancelled"}
    assert [one["skill_name"] for one in turn.draft.hypotheses()] == ["chat"]


@pytest.mark.parametrize("reply", [ValueError("oh"), 5, [{"text": 5}]])
async def test_a_failure_of_a_told_skill_is_on_record(reply: Any) -> None:
    _, turn = await told(says("other", reply))
    assert turn.draft.final_reply().text == "hello"
    assert errors(turn) == {}
    assert [fault["service"] for fault in turn.faults] == ["other"]


async def test_a_formatter_that_breaks_when_a_skill_is_told_is_on_record() -> None:
    def breaks(state: Any) -> Any:
        raise ValueError("oh")

    _, turn = await told(says("other", hypothesis(), formatter=breaks))
    [fault] = turn.faults
    assert str(fault["what"]).startswith("its formatter raised ValueError: oh (at ")


async def test_a_reply_is_reshaped_when_a_skill_is_told_too() -> None:
    other = says("other", {"x": 2}, response_formatter=lambda r: hypothesis(human_attributes=r))
    talk, _ = await told(other)
    assert (await talk.state())["human"]["attributes"]["x"] == 2


async def test_a_skill_that_wants_no_second_run_is_not_told_in_one() -> None:
    other = says("other", hypothesis(), rerun=False)
    _, turn = await told(other, attempt=2)
    assert asked(other) == []
    assert len(turn.faults) == 1


async def test_telling_a_skill_that_is_not_there_does_nothing() -> None:
    talk = Talk(Pipeline(skills=[skill()]))
    turn = await _turn_and_tell(talk, "nobody")
    assert turn.faults == []


# -- messages and text ------------------------------------------------------------------------

CARD = {"type": "picture", "url": "a"}


async def attributes_after(pipeline: Pipeline) -> dict[str, Any]:
    talk = Talk(pipeline)
    await talk.turn()
    [bot] = (await talk.state())["bot_utterances"]
    attributes: dict[str, Any] = bot["attributes"]
    return attributes


async def test_a_text_that_no_message_says_comes_first() -> None:
    attributes = await attributes_after(Pipeline(skills=[skill(text="Look", messages=[CARD])]))
    assert attributes["messages"] == [{"type": "text", "text": "Look"}, CARD]


async def test_messages_without_a_text_are_rendered_as_one() -> None:
    turn = await Talk(
        Pipeline(skills=[says("chat", {"messages": [CARD], "confidence": 1.0})])
    ).turn()
    assert turn.draft.final_reply().text == "Picture: a"
    assert turn.draft.final_reply().messages == [CARD]


async def test_a_selector_that_has_another_text_rewrites_the_first_message() -> None:
    said = skill(messages=[{"type": "text", "text": "hello"}, CARD])
    attributes = await attributes_after(
        Pipeline(skills=[said], response_selector=picks(text="hi", hypothesis="chat.0"))
    )
    assert attributes["messages"] == [{"type": "text", "text": "hi"}, CARD]


async def test_choices_are_numbered() -> None:
    choices = [{"type": "choice", "title": "a", "idx": 7}, {"type": "choice", "title": "b"}]
    attributes = await attributes_after(Pipeline(skills=[skill(messages=choices)]))
    assert [message.get("idx") for message in attributes["messages"]] == [None, 0, 1]


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        ({"messages": [{"type": "picture"}]}, "$[0].messages[0].url"),
        ({"messages": [CARD, {"type": "nothing"}]}, "$[0].messages[1].type"),
        ({"messages": "none"}, "$[0].messages"),
        ({"ask": "nothing"}, "$[0].ask"),
        ({"ask": 5}, "$[0].ask"),
        ({"schedule": {}}, "$[0].schedule"),
        ({"schedule": [{}]}, "$[0].schedule[0].key"),
        ({"unschedule": [""]}, "$[0].unschedule[0]"),
    ],
)
async def test_an_invalid_message_or_ask_is_refused_with_its_path(
    bad: dict[str, Any], path: str
) -> None:
    turn = await Talk(Pipeline(skills=[says("chat", [hypothesis(**bad)])])).turn()
    assert turn.draft.final_reply().text == FALLBACK
    assert path in (errors(turn)["chat"] or "")


@pytest.mark.parametrize("bad", [{"messages": [{"type": "nothing"}]}, {"ask": "nothing"}])
async def test_a_selector_with_an_invalid_message_or_ask_has_failed(bad: Any) -> None:
    turn = await Talk(Pipeline(skills=[skill()], response_selector=picks(**bad))).turn()
    assert text_and_way(turn) == ("hello", "confidence")
    assert outcomes(turn)["selector"] == "failed"
