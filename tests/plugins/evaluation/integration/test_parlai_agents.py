"""Agents written for ParlAI as skills: a clone for each dialog, in step with what was said."""

import asyncio
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ConfigError, ServiceRaised
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.evaluation.agent_connector import ParlaiConnector
from prolocutor.testing.fake_service import FakeRequest
from tests.plugins.evaluation.integration import parlai_agents
from tests.plugins.evaluation.integration.parlai_agents import (
    HearingItself,
    Numbered,
    Remembering,
    Silent,
    Waiting,
)

HERE = parlai_agents.__name__


def state(*texts: str, dialog: str = "d") -> FakeRequest:
    """A window in which a person and the bot speak in turn; the texts are those of both."""
    by_bot = {"active_skill": "x"}
    utterances = [
        {"utt_id": f"{dialog}{n % 2}{text}", "text": text, **(by_bot if n % 2 else {})}
        for n, text in enumerate(texts)
    ]
    return FakeRequest({"dialog_id": dialog, "utterances": utterances})


async def said(connector: ParlaiConnector, *texts: str, dialog: str = "d") -> Any:
    (reply,) = await connector.send([state(*texts, dialog=dialog)])
    assert isinstance(reply, Plain)
    return [one["text"] for one in reply.value]


async def test_an_agent_named_in_the_pipeline_answers_in_its_dialog() -> None:
    skill = Service("parrot", f"{HERE}:Remembering", connector="parlai")

    async with Assistant(Pipeline(skills=[skill]), store="memory:") as assistant:
        replies = [
            (await assistant.reply(text, user=user)).text
            for text, user in [("a", "ann"), ("b", "bob"), ("c", "ann")]
        ]

    assert replies == ["a", "b", "a|c"]


async def test_a_clone_goes_on_where_it_was() -> None:
    connector = ParlaiConnector(Remembering, name="x")

    await said(connector, "a")

    assert await said(connector, "window moved", "-", "a", "a", "b") == ["a|b"]


async def test_a_clone_that_was_evicted_observes_the_window_again() -> None:
    connector = ParlaiConnector(Remembering, name="x", max_dialogs=1)

    await said(connector, "a")
    await said(connector, "other", dialog="e")

    assert await said(connector, "z", "-", "a", "a", "b") == ["z|a|b"]


async def test_what_was_asked_twice_is_observed_once() -> None:
    connector = ParlaiConnector(Remembering, name="x")

    assert await said(connector, "a") == await said(connector, "a") == ["a"]


async def test_turns_in_which_it_was_not_asked_are_observed_later() -> None:
    connector = ParlaiConnector(HearingItself, name="x")

    await said(connector, "a")

    assert await said(connector, "a", "a", "b", "theirs", "c") == ["a|<a>|b|<theirs>|c"]


async def test_an_agent_that_keeps_its_words_learns_what_was_said_instead() -> None:
    connector = ParlaiConnector(HearingItself, name="x")

    await said(connector, "a")

    assert await said(connector, "a", "theirs", "b") == ["a|<theirs>|b"]


async def test_clones_share_what_the_first_one_shares() -> None:
    made: list[Remembering] = []

    class Watched(Remembering):
        def __init__(self, opt: dict[str, Any], shared: Any = None) -> None:
            super().__init__(opt, shared)
            made.append(self)

    connector = ParlaiConnector(Watched, name="x")
    await said(connector, "a")

    assert [one.shared and one.shared["model"] for one in made] == [None, "heavy"]


async def test_an_agent_without_share_is_made_for_every_dialog() -> None:
    connector = ParlaiConnector(Numbered, name="x")

    assert [await said(connector, "a", dialog=one) for one in "de"] == [["1"], ["1"]]


async def test_options_come_with_the_name() -> None:
    connector = ParlaiConnector(f"{HERE}:Remembering?size=3&kind=small&on=True", name="x")

    await said(connector, "a")

    assert connector._clones._first.opt == {"size": 3, "kind": "small", "on": True}


@pytest.mark.parametrize(
    ("agent", "confidence"),
    [
        (f"{HERE}:Remembering", 0.5),
        (f"{HERE}:make", 0.9),
        (Remembering({"act": {"confidence": "high"}}), 0.5),
    ],
)
async def test_confidence_is_the_agents_or_the_usual_one(agent: Any, confidence: float) -> None:
    (reply,) = await ParlaiConnector(agent, name="x").send([state("a")])

    assert isinstance(reply, Plain)
    assert reply.value == [{"text": "a", "confidence": confidence}]


async def test_an_act_without_text_is_no_hypothesis() -> None:
    assert await said(ParlaiConnector(Silent, name="x"), "a") == []


async def test_an_agent_that_blocks_holds_up_no_other_dialog() -> None:
    connector = ParlaiConnector(Waiting, name="x")
    blocked = asyncio.ensure_future(said(connector, "wait", dialog="slow"))
    await asyncio.to_thread(Waiting.blocked.wait, 10)

    assert await said(connector, "a") == ["a"]
    Waiting.gate.set()
    assert await blocked == ["wait"]


async def test_what_an_agent_raises_is_its_own_failure() -> None:
    connector = ParlaiConnector(Remembering, name="x", opt={"act": 5})

    with pytest.raises(ServiceRaised, match="TypeError"):
        await connector.send([state("a")])


async def test_a_formatted_request_is_refused() -> None:
    with pytest.raises(BadReply, match="without a formatter"):
        await ParlaiConnector(Remembering, name="x").send([FakeRequest({"x": ["a"]})])


async def test_a_batch_is_answered_one_by_one() -> None:
    connector = ParlaiConnector(Remembering, name="x", batched=True)

    good, bad = await connector.send([state("a"), FakeRequest(None)])

    assert isinstance(good, Plain)
    assert isinstance(bad, BadReply)


@pytest.mark.parametrize(
    ("agent", "what"),
    [
        (f"{HERE}:Speechless", "not an agent of ParlAI's kind: no act"),
        (f"{HERE}:Nobody", "has no 'Nobody'"),
        (3, "a int is not an agent"),
        (Numbered({}), "neither shared nor cloned"),
    ],
)
async def test_what_is_no_agent_is_refused_when_it_is_named(agent: Any, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        ParlaiConnector(agent, name="x")
