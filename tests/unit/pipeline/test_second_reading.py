"""When no skill answers, the words are read again, and the skills asked about that reading."""

import asyncio
from typing import Any

import pytest

from prolocutor.dialog.inputs import StopSignal
from prolocutor.dialog.turn_events import ServiceAsked, StageEnded, StageStarted
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from tests.unit.pipeline.talk import FALLBACK, Talk, hypothesis


class Reader:
    """An annotator with readings in turn; it counts those that it has given before."""

    def __init__(self, *readings: dict[str, Any]) -> None:
        self.readings = readings
        self.noted: list[Any] = []

    def __call__(self, state: dict[str, Any]) -> dict[str, Any]:
        noted = state["human_utterances"][-1]["annotations"].get("follow_up")
        self.noted.append(noted)
        place = len(self.noted) - 1
        return self.readings[place] if place < len(self.readings) else {}


class Knows:
    """A skill that knows one text, and keeps those that it was asked."""

    def __init__(self, text: str, decline: float | None = None) -> None:
        self.text = text
        self.decline = decline
        self.asked: list[str] = []

    def __call__(self, state: dict[str, Any]) -> list[dict[str, Any]]:
        said = state["human_utterances"][-1]["text"]
        self.asked.append(said)
        if said == self.text:
            return [hypothesis("here you are")]
        return [] if self.decline is None else [hypothesis("no idea", self.decline)]


def reading(text: str) -> dict[str, Any]:
    return {"text": text, "confidence": 0.8}


def talk_of(reader: Reader, **skills: Any) -> Talk:
    return Talk(
        Pipeline(
            annotators=[Service("follow_up", reader)],
            skills=[Service(name, skill, rewrites=True) for name, skill in skills.items()],
        )
    )


async def spoken(talk: Talk, text: str) -> str:
    turn = await talk.turn(text)
    return turn.draft.final_reply().text


async def test_a_skill_that_declines_the_words_answers_another_reading_of_them() -> None:
    reader, shop = Reader({}, reading("a loaf")), Knows("a loaf", 0.2)
    talk = talk_of(reader, shop=shop)

    assert await spoken(talk, "oh well, a loaf, dear") == "here you are"
    assert shop.asked == ["oh well, a loaf, dear", "a loaf"]
    assert reader.noted == [None, {}]


async def test_the_reading_that_was_answered_is_stored() -> None:
    talk = talk_of(Reader({}, reading("a loaf")), shop=Knows("a loaf"))

    await talk.say("oh well, a loaf, dear")

    stored = (await talk.state())["utterances"][0]
    assert stored["annotations"]["follow_up"] == reading("a loaf")


async def test_an_answer_needs_no_other_reading() -> None:
    reader, shop = Reader({}, reading("a cake")), Knows("a loaf")

    assert await spoken(talk_of(reader, shop=shop), "a loaf") == "here you are"
    assert len(reader.noted) == 1
    assert shop.asked == ["a loaf"]


async def test_without_an_answer_all_is_as_it_was_after_the_first_reading() -> None:
    first, shop = reading("a bun"), Knows("a loaf", 0.3)
    talk = talk_of(Reader(first, reading("a cake"), reading("a pie")), shop=shop)

    assert await spoken(talk, "well") == "no idea"
    assert shop.asked == ["a bun", "a cake", "a pie"]
    stored = (await talk.state())["utterances"][0]
    assert stored["annotations"]["follow_up"] == first


async def test_a_turn_that_is_stopped_in_a_further_reading_keeps_the_first() -> None:
    first, stop = reading("a bun"), StopSignal()

    async def shop(state: dict[str, Any]) -> list[dict[str, Any]]:
        if state["human_utterances"][-1]["text"] == "a cake":
            stop.set()
            await asyncio.Event().wait()
        return []

    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", Reader(first, reading("a cake")))],
            skills=[Service("shop", shop, rewrites=True)],
        )
    )

    await talk.turn("well", stop=stop)

    stored = (await talk.state())["utterances"][0]
    assert stored["annotations"]["follow_up"] == first


async def test_the_fallback_comes_where_no_reading_gets_a_hypothesis() -> None:
    shop = Knows("a loaf")

    assert await spoken(talk_of(Reader({}, reading("a cake")), shop=shop), "well") == FALLBACK


async def test_without_further_readings_the_skills_are_asked_once() -> None:
    reader, shop = Reader({}, reading("a loaf")), Knows("a loaf")
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", reader, readings=0)],
            skills=[Service("shop", shop, rewrites=True)],
        )
    )

    assert await spoken(talk, "well") == FALLBACK
    assert shop.asked == ["well"]


async def test_the_same_reading_is_not_asked_twice() -> None:
    shop = Knows("a loaf")
    talk = talk_of(Reader(reading("a bun"), reading("a bun")), shop=shop)

    await talk.say("well")

    assert shop.asked == ["a bun"]


async def test_all_skills_that_rewrite_are_asked_again_and_no_others() -> None:
    shop, bakery, plain = Knows("x"), Knows("a loaf"), Knows("a loaf")
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", Reader({}, reading("a loaf")))],
            skills=[
                Service("shop", shop, rewrites=True),
                Service("bakery", bakery, rewrites=True),
                Service("plain", plain),
            ],
        )
    )

    assert await spoken(talk, "well") == "here you are"
    assert shop.asked == bakery.asked == ["well", "a loaf"]
    assert plain.asked == ["well"]


async def test_skills_that_wait_for_each_other_do_so_again() -> None:
    order: list[str] = []

    def first(state: dict[str, Any]) -> list[dict[str, Any]]:
        order.append("first")
        return []

    def second(state: dict[str, Any]) -> list[dict[str, Any]]:
        order.append("second")
        return []

    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", Reader({}, reading("a loaf")))],
            skills=[
                Service("second", second, rewrites=True, after=["first"]),
                Service("first", first, rewrites=True),
            ],
        )
    )

    await talk.say("well")

    assert order == ["first", "second", "first", "second"]


async def test_a_response_selector_sees_the_answers_to_the_last_reading() -> None:
    selector = FakeService({"skill_name": "shop", "text": "chosen", "confidence": 1.0})
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", Reader({}, reading("a loaf")))],
            skills=[Service("shop", Knows("a loaf", 0.1), rewrites=True)],
            response_selector=Service("choose", selector),
        )
    )

    await talk.say("well")

    (request,) = selector.requests
    assert [one["text"] for one in request["hypotheses"]] == ["here you are"]


async def test_a_candidate_annotator_is_asked_about_the_answers_alone() -> None:
    about = FakeService({"fits": True})
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", Reader({}, reading("a loaf")))],
            skills=[Service("shop", Knows("a loaf", 0.1), rewrites=True)],
            candidate_annotators=[Service("fits", about)],
        )
    )

    await talk.say("well")

    (request,) = about.requests
    assert request["hypothesis"]["text"] == "here you are"


async def test_the_last_chance_waits_for_all_readings() -> None:
    last, shop = FakeService("nobody knows"), Knows("a loaf")
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", Reader({}, reading("a loaf")))],
            skills=[Service("shop", shop, rewrites=True)],
            last_chance=Service("last", last),
        )
    )

    assert await spoken(talk, "well") == "here you are"
    assert not last.requests


async def test_each_reading_has_an_idempotency_key_of_its_own() -> None:
    talk = talk_of(Reader({}, reading("a loaf")), shop=Knows("a loaf"))
    step = talk.engine.prepared.skill_steps["shop"]
    keys: list[str] = []
    answer = step.guard.call

    def call(request: Any) -> Any:
        keys.append(request.key.partition("/")[2])
        return answer(request)

    step.guard.call = call  # type: ignore[method-assign]
    await talk.say("well")

    assert keys == ["shop", "shop/reading-1"]


async def test_the_stages_are_announced_once_for_each_reading() -> None:
    events: list[Any] = []
    talk = talk_of(Reader({}, reading("a loaf")), shop=Knows("a loaf"))

    await talk.turn("well", listener=events.append)

    kinds = StageStarted | StageEnded | ServiceAsked
    told = [event for event in events if isinstance(event, kinds)]
    one = [
        StageStarted("annotators"),
        ServiceAsked("follow_up", "annotators"),
        StageEnded("annotators"),
        StageStarted("skills"),
        ServiceAsked("shop", "skills"),
        StageEnded("skills"),
    ]
    assert told == [*one, *one]


async def test_the_record_counts_the_calls_of_all_readings() -> None:
    talk = talk_of(Reader({}, reading("a loaf")), shop=Knows("a loaf"))

    records = (await talk.turn("well")).records()

    assert [(one.name, one.calls, one.outcome) for one in records] == [
        ("follow_up", 2, "done"),
        ("shop", 2, "done"),
    ]


class Clerk:
    """A skill that answers each clause that it knows, as one of several parts of the words."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.asked: list[str] = []

    def __call__(self, state: dict[str, Any]) -> list[dict[str, Any]]:
        said = state["human_utterances"][-1]["text"]
        self.asked.append(said)
        meant = state["human_utterances"][-1]["annotations"].get("follow_up")
        parts = [said, *([said] if meant else []), *said.split(" and ")]
        return [
            {**hypothesis(f"here is {one}", 0.9 if one in self.known else 0.1), "part": part}
            for part, one in enumerate(parts)
        ]


def texts(talk_turn: Any) -> set[str]:
    every = talk_turn.draft.all_hypotheses()
    return {one.value["text"] for one in every if one.value["confidence"] > 0.5}


async def test_words_of_which_a_part_is_answered_are_read_again() -> None:
    clerk = Clerk("a loaf", "a bun")
    reader = Reader({}, reading("a loaf and a bun"))

    turn = await talk_of(reader, shop=clerk).turn("a loaf and some of those buns")

    assert clerk.asked == ["a loaf and some of those buns", "a loaf and a bun"]
    assert texts(turn) == {"here is a loaf", "here is a bun"}


async def test_a_reading_of_fewer_parts_does_not_replace_the_answer_to_one() -> None:
    clerk = Clerk("a loaf", "a bun")

    turn = await talk_of(Reader({}, reading("a bun")), shop=clerk).turn("a loaf and buns")

    assert texts(turn) == {"here is a loaf"}
    assert "follow_up" not in turn.draft.annotations() or not turn.draft.annotations()["follow_up"]


async def test_answers_to_all_parts_need_no_other_reading() -> None:
    clerk = Clerk("a loaf", "a bun")

    await talk_of(Reader({}, reading("a pie")), shop=clerk).turn("a loaf and a bun")

    assert clerk.asked == ["a loaf and a bun"]


async def test_nothing_is_read_again_where_a_skill_with_an_answer_may_not_be_asked_again() -> None:
    clerk, cook = Clerk("a loaf"), Clerk("a bun")
    talk = Talk(
        Pipeline(
            annotators=[Service("follow_up", Reader({}, reading("a loaf and a bun")))],
            skills=[
                Service("shop", clerk, rewrites=True, rerun=False),
                Service("cook", cook, rewrites=True),
            ],
        )
    )

    await talk.turn("a loaf and some of those buns")

    assert len(clerk.asked) == len(cook.asked) == 1


def clauses(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask about the words, the question that they mean, and each of its clauses."""
    last = state["human_utterances"][-1]
    parts = last["text"].split(" and ")
    said = [one for one in (last.get("orig_text"), last["text"]) if one]
    return [{"said": one} for one in [*said, *(parts if len(parts) > 1 else [])]]


class Shop:
    """A skill asked about each clause; it says nothing of those that it does not know.

    After `lasts` calls it fails.
    """

    def __init__(self, *known: str, lasts: int = 100, **said: Any) -> None:
        self.known = known
        self.lasts = lasts
        self.said = said
        self.asked: list[str] = []

    def __call__(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        self.asked.append(request["said"])
        if len(self.asked) > self.lasts:
            raise RuntimeError("it is gone")
        known = request["said"] in self.known
        return [{**hypothesis(f"here is {request['said']}", 0.9), **self.said}] if known else []


def shops(reader: Reader, acts: bool = False, **skills: Any) -> Talk:
    return Talk(
        Pipeline(
            annotators=[Service("follow_up", reader)],
            skills=[
                Service(name, one, rewrites=True, fan_out=True, formatter=clauses, acts=acts)
                for name, one in skills.items()
            ],
        )
    )


async def test_a_part_of_which_no_skill_says_anything_is_without_an_answer() -> None:
    reader = Reader({}, reading("a loaf and a bun"))

    turn = await shops(reader, shop=Shop("a loaf", "a bun")).turn("a loaf and some buns")

    assert texts(turn) == {"here is a loaf", "here is a bun"}


async def test_a_skill_that_fails_in_a_further_reading_keeps_no_answer_to_another() -> None:
    baker = Shop("a loaf", lasts=3)
    reader = Reader({}, reading("a loaf and a bun"))

    turn = await shops(reader, baker=baker, cook=Shop("a bun")).turn("a loaf and buns")

    assert texts(turn) == {"here is a loaf"}
    assert not turn.draft.annotations().get("follow_up")


@pytest.mark.parametrize("confidence", [0.9, 0.3])
async def test_a_skill_that_has_acted_is_not_asked_again(confidence: float) -> None:
    shop = Shop("a loaf", confidence=confidence)
    reader = Reader({}, reading("a loaf and a bun"))

    await shops(reader, acts=True, shop=shop).turn("a loaf and some buns")

    assert shop.asked.count("a loaf") == 1


async def test_a_skill_that_acts_and_did_nothing_is_asked_again() -> None:
    shop = Shop("a loaf", confidence=0.1, acted=False)
    reader = Reader({}, reading("a loaf and a bun"))

    await shops(reader, acts=True, shop=shop).turn("a loaf and some buns")

    assert shop.asked.count("a loaf") == 2
