"""What users write, as the type checker sees it; nothing here is run."""

from typing import Any, assert_type

import prolocutor
from prolocutor import (
    Assistant,
    Bot,
    BotUtterance,
    Breaker,
    Dialog,
    Human,
    HumanUtterance,
    Hypothesis,
    Pipeline,
    ProlocutorError,
    Selection,
    Service,
    TurnResult,
    enough,
    knowledge,
)
from prolocutor.assistant.feed import FeedMessage
from prolocutor.contracts.caller import Caller
from prolocutor.contracts.connector import Connector
from prolocutor.contracts.observer import Observer, ServiceRecord, TurnRecord
from prolocutor.contracts.store import Store
from prolocutor.pipeline.batching import Batcher
from prolocutor.stores.memory import MemoryStore


def plain(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"text": request["utterances"][-1]["text"], "confidence": 0.5}]


async def awaited(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": "hi", "confidence": 0.5}


def more(hypotheses: list[dict[str, Any]], seconds_left: float) -> Any:
    return enough if hypotheses else ["plain"]


def selects(request: dict[str, Any]) -> Selection:
    return Selection(["awaited"], more)


pipeline = Pipeline(
    annotators=[Service("ner", "http://localhost:8000/ner", timeout=0.5)],
    skill_selector=Service("selects", selects, inline=True),
    skills=[
        Service("plain", plain, after=["ner"], requires=["annotators"], window=None),
        Service("awaited", awaited, retries=2, breaker=Breaker(failures=3, cooldown=1.0)),
        Service("dotted", "package.module:function", process=True),
    ],
    response_selector=[Service("one", plain), Service("other", plain)],
    postprocessors=(Service("post", plain, formatter="chitchat_formatter_in"),),
    last_chance=Service("last", plain, response_formatter=lambda reply: reply),
)


class Watches:
    def turn_ended(self, record: TurnRecord) -> None:
        assert_type(record.services, list[ServiceRecord])

    def breaker_changed(self, service: str, state: str) -> None: ...


async def talk() -> str:
    async with Assistant(
        pipeline, store="memory:", deadline=2.0, durability="relaxed", observers=[Watches()]
    ) as assistant:
        assert_type(assistant, Assistant)
        reply = await assistant.reply("hi", user="ann", attributes={"a": 1}, request_id="r")
        assert_type(reply, BotUtterance)
        assert_type(reply.confidence, float)
        assert_type(reply.user, Bot)
        result = await assistant.turn("hi", user="ann", dialog="other")
        assert_type(result, TurnResult)
        assert_type(result.record, TurnRecord | None)
        async for message in assistant.feed("ann", after=3):
            assert_type(message, FeedMessage)
        assert_type(await assistant.close_dialog("ann"), str | None)
        dialog = await assistant.store.dialog("1")
        assert_type(dialog, Dialog | None)
        if dialog is not None:
            assert_type(dialog.human, Human)
            assert_type(dialog.utterances, list[HumanUtterance | BotUtterance])
        caller: Caller = assistant.engine
        await caller.call("plain", {}, timeout=1.0)
        return reply.text


assert_type(prolocutor.run(talk()), str)
assert_type(prolocutor.__version__, str)

try:
    knowledge.put("news", "sport", ["won"], seconds=600)
except ProlocutorError as error:
    assert_type(error.code, str)

hypothesis = Hypothesis(skill_name="plain", text="hi", confidence=0.5)
assert_type(hypothesis.human_attributes, dict[str, Any] | None)

store: Store = MemoryStore()
observer: Observer = Watches()


def batches(connector: Connector) -> Connector:
    return Batcher(connector, 32)


Service("plain")  # type: ignore[call-arg]
Service("plain", plain, wire="telegraph")  # type: ignore[arg-type]
Assistant(pipeline, durability="none")  # type: ignore[arg-type]
Pipeline(skills=["plain"])  # type: ignore[list-item]
