"""Whatever pipeline, and whatever its services say and when: every turn ends, at once."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prolocutor.contracts.selection import Selection, enough
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import DirectReply
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Breaker, Pipeline, Service
from tests.unit.pipeline.talk import Talk, outcomes

NAMES = ["a", "b", "c", "d"]
IDS = [f"{name}.{position}" for name in NAMES for position in (0, 1)]
NEVER_OPENS = Breaker(failures=1000)

junk: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, 0, 0.5, "", "hi", "a", float("nan"), b"", 10**400]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=4,
)
sound = st.recursive(
    st.sampled_from([None, True, 0, 0.5, "", "hi"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=4,
)
attributes = st.dictionaries(
    st.sampled_from(["id", "name", "persona", "profile", "attributes", "x", "y"]), sound, max_size=3
)
messages = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "text", "choice"])},
    optional={"text": st.sampled_from(["hi", "", None]), "title": st.just("A")},
)
hypotheses = st.fixed_dictionaries(
    {"text": st.sampled_from(["hi", "bye", ""]), "confidence": st.sampled_from([0, 0.5, 1, -1])},
    optional={
        "skill_name": st.sampled_from(NAMES),
        "human_attributes": attributes,
        "bot_attributes": attributes,
        "attributes": attributes,
        "annotations": attributes,
        "messages": st.lists(messages, max_size=2),
        "ask": st.sampled_from([None, "number", "choice", "nothing", 5, []]),
        "can_continue": sound,
        "hypothesis_id": st.sampled_from(IDS),
    },
)
choices = st.fixed_dictionaries(
    {
        "skill_name": st.sampled_from(NAMES),
        "text": st.sampled_from(["hi", "bye"]),
        "confidence": st.sampled_from([0, 0.5, 1]),
    },
    optional={
        "hypothesis": st.sampled_from(IDS),
        "hypotheses": st.lists(st.sampled_from(IDS), min_size=1, max_size=3),
        "human_attributes": attributes,
        "messages": st.lists(messages | sound, max_size=2),
        "annotations": attributes,
    },
)
some_names = st.lists(st.sampled_from([*NAMES, *NAMES, "nobody"]), max_size=4)


def looking(answers: list[Any]) -> Any:
    """Make a `more` that gives these answers one after the other, then nothing."""
    left = list(answers)

    def more(hypotheses: list[dict[str, Any]], seconds: float) -> Any:
        return left.pop(0) if left else None

    return more


selections = st.builds(
    lambda first, answers: Selection(first, looking(answers)),
    some_names,
    st.lists(some_names | st.just(enough) | junk, min_size=1, max_size=3),
)
faults = st.sampled_from([ValueError("no"), SystemExit(3), asyncio.CancelledError()])


@st.composite
def replies(draw: st.DrawFn, usual: st.SearchStrategy[Any]) -> Any:
    return draw(usual if draw(st.integers(0, 9)) != 7 else junk | faults)


@st.composite
def services(
    draw: st.DrawFn, names: list[str], usual: st.SearchStrategy[Any], before: list[str]
) -> list[Service]:
    made = []
    for place, name in enumerate(names):
        waits = [*before, *names[:place]]
        some = st.lists(st.sampled_from(waits), max_size=2, unique=True) if waits else st.just([])
        reply, rounds = draw(replies(usual)), draw(st.sampled_from([0, 1, 3]))
        options: dict[str, Any] = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "after": some,
                    "requires": some,
                    "window": st.none() | st.integers(1, 5),
                    "batch_size": st.sampled_from([1, 4]),
                    "max_in_flight": st.sampled_from([1, 2, 64]),
                },
            )
        )
        if draw(st.integers(0, 15)) == 7:
            tasks = draw(st.lists(st.sampled_from("ab"), max_size=3) | junk)
            options |= {"formatter": lambda state, tasks=tasks: tasks, "fan_out": True}
        target: Any = answering(reply, rounds, batched=options.get("batch_size", 1) > 1)
        if not rounds and options.get("batch_size", 1) == 1 and draw(st.booleans()):
            target, options["inline"] = answering_at_once(reply), True
        made.append(Service(name, target, timeout=60.0, breaker=NEVER_OPENS, **options))
    return made


def answering(reply: Any, rounds: int, *, batched: bool) -> Any:
    async def answers(request: Any) -> Any:
        for _ in range(rounds):
            await asyncio.sleep(0)
        if isinstance(reply, BaseException):
            raise reply
        return [reply] * len(request) if batched else reply

    return answers


def answering_at_once(reply: Any) -> Any:
    def answers(request: Any) -> Any:
        if isinstance(reply, BaseException):
            raise reply
        return reply

    return answers


@st.composite
def pipelines(draw: st.DrawFn) -> Pipeline:
    annotators = [f"n{n}" for n in range(draw(st.integers(0, 2)))]
    selectors = [f"k{n}" for n in range(draw(st.integers(0, 2)))]
    skills = NAMES[: draw(st.integers(1, 4))]
    candidates = [f"t{n}" for n in range(draw(st.integers(0, 2)))]
    chosen = [f"r{n}" for n in range(draw(st.integers(0, 2)))]
    posts = [f"p{n}" for n in range(draw(st.integers(0, 2)))]
    lasts = [f"z{n}" for n in range(draw(st.integers(0, 2)))]
    selecting = some_names | selections
    skill_replies = st.lists(hypotheses, min_size=1, max_size=2) | hypotheses
    early = [*annotators, *selectors]
    return Pipeline(
        annotators=draw(services(annotators, sound, [])),
        skill_selector=draw(services(selectors, selecting, annotators)),
        skills=draw(services(skills, skill_replies, early)),
        candidate_annotators=draw(services(candidates, sound, [*early, *skills])),
        response_selector=draw(services(chosen, choices, [*early, *skills])),
        postprocessors=draw(services(posts, st.text(max_size=3), [*chosen, *skills])),
        response_annotators=draw(services(lasts, sound, [*chosen, *posts])),
        last_chance=(draw(services(["last"], st.just("Sorry."), [])) or [None])[0]
        if draw(st.booleans())
        else None,
    )


words = st.builds(
    DirectReply,
    messages=st.lists(st.just({"type": "text", "text": "hm"}), max_size=2),
    ask=st.sampled_from([None, "number"]),
)
starts = st.fixed_dictionaries(
    {},
    optional={
        "forced_skill": st.sampled_from([*NAMES, "nobody"]),
        "preferred": st.sampled_from([*NAMES, "nobody"]),
        "extra": st.just({"answer": 1}),
        "excluded": st.sampled_from([*NAMES, "nobody"]),
        "least": st.floats(0, 1),
        "otherwise": words,
        "say": words,
    },
)


@pytest.mark.slow
@settings(suppress_health_check=list(HealthCheck))
@given(pipelines(), starts)
async def test_every_turn_ends_at_once_with_a_reply(
    pipeline: Pipeline, start: dict[str, Any]
) -> None:
    try:
        talk = Talk(pipeline, deadline=600.0)
    except ConfigError:
        return
    for _ in range(2):
        turn = await talk.turn(**start)
        assert isinstance(turn.draft.final_reply().text, str)
        known = [outcome in ("done", "failed", "skipped") for outcome in outcomes(turn).values()]
        assert all(known)
    state = await talk.state()
    assert plain.check(state, max_depth=200).value == state
    assert [len(state[f"{who}_utterances"]) for who in ("human", "bot")] == [2, 2]
    selected = [
        hypothesis["hypothesis_id"] for hypothesis in state["human_utterances"][-1]["hypotheses"]
    ]
    assert len(selected) == len(set(selected))
