"""What part of a dialog a service is shown."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.formatters import Widening
from prolocutor.plan.pipeline import Pipeline, Service
from tests.unit.pipeline.talk import Talk, asked, hypothesis, says, skill

SPEAKERS = {True: "bot", False: "human"}


def spoken(request: Any) -> list[str]:
    """Return what is in the window, `?` the human's and `!` the bot's."""
    return ["!" if "active_skill" in utterance else "?" for utterance in request["utterances"]]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, "?"),
        (2, "?"),
        (3, "?!?"),
        (4, "?!?"),
        (5, "?!?!?"),
        (6, "?!?!?"),
        (7, "?!?!?!?"),
        (None, "?!?!?!?!?"),
    ],
)
async def test_a_window_never_starts_with_a_bot_utterance(size: int | None, expected: str) -> None:
    annotator = says("ner", None, window=size)
    talk = Talk(Pipeline(annotators=[annotator], skills=[skill()]))
    for _ in range(5):
        await talk.turn()
    assert "".join(spoken(asked(annotator)[-1])) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1, "?!"), (2, "?!"), (3, "?!"), (4, "?!?!"), (5, "?!?!"), (6, "?!?!?!"), (None, "?!?!?!")],
)
async def test_after_the_reply_the_window_ends_with_it(size: int | None, expected: str) -> None:
    annotator = says("after", None, window=size)
    talk = Talk(Pipeline(skills=[skill()], response_annotators=[annotator]))
    for _ in range(3):
        await talk.turn()
    assert "".join(spoken(asked(annotator)[-1])) == expected


async def test_five_utterances_are_shown_unless_told_otherwise() -> None:
    annotator = says("ner", None)
    talk = Talk(Pipeline(annotators=[annotator], skills=[skill()]))
    for number in range(6):
        await talk.turn(str(number))
    assert [utterance["text"] for utterance in asked(annotator)[-1]["human_utterances"]] == [
        "3",
        "4",
        "5",
    ]


@settings(max_examples=20, deadline=None)
@given(sizes=st.lists(st.none() | st.integers(1, 7), min_size=1, max_size=4))
async def test_each_service_has_a_window_of_its_own(sizes: list[int | None]) -> None:
    annotators = [says(f"a{n}", None, window=size) for n, size in enumerate(sizes)]
    talk = Talk(Pipeline(annotators=annotators, skills=[skill()]))
    for _ in range(4):
        await talk.turn()
    for annotator, size in zip(annotators, sizes, strict=True):
        expected = 7 if size is None else min(7, size if size % 2 else size - 1)
        assert len(asked(annotator)[-1]["utterances"]) == expected


async def test_the_split_lists_hold_the_same_utterances() -> None:
    annotator = says("ner", None)
    talk = Talk(Pipeline(annotators=[annotator], skills=[skill()]))
    await talk.turn("one")
    await talk.turn("two")
    state = asked(annotator)[-1]
    assert [utterance["text"] for utterance in state["utterances"]] == ["one", "hello", "two"]
    assert state["human_utterances"] == state["utterances"][::2]
    assert state["bot_utterances"] == state["utterances"][1:2]


async def test_a_window_widens_where_a_text_of_its_usual_size_has_the_mark() -> None:
    sizes = []

    class Formatter:
        widens = Widening(3, "#more")

        def __call__(self, state: Any) -> Any:
            sizes.append(len(state["utterances"]))
            return {}

    annotator = says("ner", None, window=7, formatter=Formatter())
    talk = Talk(Pipeline(annotators=[annotator], skills=[skill()]))
    for text in ("a", "b", "c", "d #more", "e", "f"):
        await talk.turn(text)
    assert sizes == [1, 3, 3, 7, 7, 3]


async def test_services_see_who_asks_in_which_turn() -> None:
    annotator = says("ner", None)
    turn = await Talk(Pipeline(annotators=[annotator], skills=[skill()])).turn()
    [state] = asked(annotator)
    assert state["service"] == "ner"
    assert state["turn_id"] == turn.draft.opened.opening.turn_id


async def test_a_services_changes_of_its_request_reach_nobody_else() -> None:
    def vandal(request: Any) -> None:
        request["utterances"][-1]["text"] = "vandalised"
        request["human"]["attributes"]["x"] = 1
        request["utterances"].clear()

    witness = says("witness", None)
    talk = Talk(Pipeline(annotators=[says("vandal", vandal), witness], skills=[skill()]))
    await talk.turn("as it was")
    [state] = asked(witness)
    assert [utterance["text"] for utterance in state["utterances"]] == ["as it was"]
    assert (await talk.state())["human"]["attributes"] == {}


async def test_a_services_later_changes_of_its_reply_reach_nobody() -> None:
    kept = hypothesis(own=["as it was"])

    def vandal(request: Any) -> None:
        kept["own"].append("vandalised")
        kept["text"] = "vandalised"

    pipeline = Pipeline(skills=[says("chat", kept)], candidate_annotators=[says("vandal", vandal)])
    turn = await Talk(pipeline).turn()
    [said] = turn.draft.hypotheses()
    assert said["own"] == ["as it was"]
    assert turn.draft.final_reply().text == "hello"


async def test_results_of_earlier_services_of_the_turn_are_shown() -> None:
    chat, selector = says("chat", hypothesis()), says("selector", None)
    talk = Talk(
        Pipeline(
            annotators=[says("ner", ["Paris"])],
            skills=[chat],
            candidate_annotators=[says("toxic", 0.5)],
            response_selector=selector,
        )
    )
    await talk.turn()
    assert asked(chat)[0]["utterances"][-1]["annotations"] == {"ner": ["Paris"]}
    [seen] = asked(selector)[0]["hypotheses"]
    assert seen == {
        "skill_name": "chat",
        "text": "hello",
        "confidence": 0.5,
        "hypothesis_id": "chat.0",
        "annotations": {"toxic": 0.5},
    }


async def test_a_candidate_annotator_is_called_once_for_each_hypothesis() -> None:
    annotator = says("toxic", lambda request: request["hypothesis"]["text"].upper())
    chat = says("chat", [hypothesis("one"), hypothesis("two")])
    turn = await Talk(Pipeline(skills=[chat], candidate_annotators=[annotator])).turn()
    noted = [one["annotations"] for one in turn.draft.hypotheses()]
    assert noted == [{"toxic": "ONE"}, {"toxic": "TWO"}]


async def test_hypotheses_of_earlier_turns_are_shown_only_to_formatters_that_ask() -> None:
    def with_hypotheses(state: Any) -> Any:
        return [len(utterance["hypotheses"]) for utterance in state["human_utterances"]]

    def without(state: Any) -> Any:
        return [len(utterance["hypotheses"]) for utterance in state["human_utterances"]]

    with_hypotheses.hypotheses = True  # type: ignore[attr-defined]
    for formatter, expected in ((with_hypotheses, [1, 0]), (without, [0, 0])):
        annotator = says("ner", None, formatter=formatter)
        talk = Talk(Pipeline(annotators=[annotator], skills=[skill()]))
        await talk.turn()
        await talk.turn()
        assert asked(annotator)[-1] == expected


async def test_a_second_run_of_a_turn_asks_nobody_who_does_not_want_it() -> None:
    once, always = says("once", None, rerun=False), says("always", None)
    talk = Talk(Pipeline(annotators=[once, always], skills=[skill()]))
    await talk.turn(attempt=2)
    assert len(asked(once)) == 0
    assert len(asked(always)) == 1


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("all", ["one", "a: one", "two", "b: two", "three"]),
        ("own", ["one", "a: one", "three"]),
        ("none", ["three"]),
    ],
)
async def test_a_skill_is_shown_all_turns_its_own_or_none_but_the_present(
    context: str, expected: list[str]
) -> None:
    def speak(name: str, when: str) -> Any:
        def answer(request: dict[str, Any]) -> dict[str, Any]:
            said = request["utterances"][-1]["text"]
            return {"text": f"{name}: {said}", "confidence": 0.9 if said == when else 0.1}

        return answer

    seen: list[dict[str, Any]] = []

    def first(request: dict[str, Any]) -> Any:
        seen.append(request)
        return speak("a", "one")(request)

    a = Service("a", first, inline=True, context=context)  # type: ignore[arg-type]
    async with Assistant(
        Pipeline(skills=[a, Service("b", speak("b", "two"), inline=True)]), store="memory:"
    ) as assistant:
        for text in ("one", "two", "three"):
            await assistant.reply(text, user="ann")

    assert [utterance["text"] for utterance in seen[-1]["utterances"]] == expected


async def test_the_stored_user_is_the_user_before_the_turn() -> None:
    chat = says("chat", [hypothesis(human_attributes={"n": 1})])
    talk = Talk(Pipeline(skills=[chat], user_snapshot="before"))
    await talk.turn()
    await talk.turn()

    state = await talk.state()

    users = [utterance["user"]["attributes"] for utterance in state["human_utterances"]]
    assert users == [{}, {"n": 1}]
