"""The `openai` package as client of the door: it notices nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from prolocutor.assistant.assistant import Assistant
from prolocutor.observe.recent_turns import RecentTurns
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener
from tests.sdk_environment import SdkError, SdkScript, sdk_python, sdk_script

sdk_python()  # or the whole file is skipped

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def counter(request: dict[str, Any]) -> dict[str, Any]:
    """Count what a person says, and show the dialog so far."""
    number = request["human"]["attributes"].get("number", 0) + 1
    said = "|".join(utterance["text"] for utterance in request["utterances"])
    attributes = request["human_utterances"][-1]["attributes"]
    return {
        "text": f"{number}: {said}",
        "confidence": 0.9,
        "human_attributes": {"number": number},
        "attributes": {"came": attributes},
    }


async def booker(request: dict[str, Any]) -> Any:
    """Ask how many and where, when a table is to be booked."""
    if "answer" in request:
        told = {"confidence": 1.0, "text": f"booked for {request['answer']['value']}"}
        if request["answer"]["kind"] == "number":
            messages = [
                {"type": "text", "text": "Where?"},
                {"type": "choice", "title": "Inside"},
                {"type": "choice", "title": "Garden"},
                {"type": "link", "title": "Plan", "url": "https://example.org/plan"},
            ]
            told |= {"text": "Where?", "messages": messages, "ask": "choice"}
        return told
    if request["utterances"][-1]["text"] == "book a table":
        return {"text": "For how many?", "ask": "number", "confidence": 1.0}
    return []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sdk() -> AsyncIterator[SdkScript]:
    skills = [Service("counter", counter), Service("booker", booker)]
    pipeline = Pipeline(skills=skills)
    async with Assistant(
        pipeline, store="memory:", observers=[RecentTurns()], name="concierge"
    ) as it:
        app = Listener(it, [OpenAi(it)])
        async with running(app) as url, sdk_script("openai_client", url) as script:
            yield script


class Chat:
    """A client that resends all that was said."""

    def __init__(self, sdk: SdkScript, **options: Any) -> None:
        self.sdk, self.options = sdk, {"model": "concierge", **options}
        self.messages: list[dict[str, str]] = []
        self.last: dict[str, Any] = {}

    async def say(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        self.last = await self.sdk.call(
            "call", method="chat.completions.create", messages=self.messages, **self.options
        )
        reply: str = self.last["choices"][0]["message"]["content"]
        self.messages.append({"role": "assistant", "content": reply})
        return reply

    def fork(self, until: int) -> Chat:
        """Return the chat as it was after that many messages."""
        other = Chat(self.sdk)
        other.options, other.messages = self.options, self.messages[:until]
        return other


async def test_models_are_the_assistant_and_its_skills(sdk: SdkScript) -> None:
    models = await sdk.call("pages", method="models.list")
    one = await sdk.call("call", method="models.retrieve", model="concierge/booker")

    names = ["concierge", "concierge/counter", "concierge/booker"]
    assert [model["id"] for model in models] == names
    assert one["id"] == "concierge/booker"


async def test_a_conversation_is_found_again_by_its_history(sdk: SdkScript) -> None:
    chat = Chat(sdk)

    assert [await chat.say("hi"), await chat.say("there")] == ["1: hi", "2: hi|1: hi|there"]
    assert chat.last["usage"]["total_tokens"] > 0
    assert chat.last["prolocutor"]["skill"] == "counter"
    assert chat.last["prolocutor"]["asked"] == ["counter", "booker"]
    assert chat.last["_request_id"]


async def test_strangers_who_began_alike_do_not_meet(sdk: SdkScript) -> None:
    ann, bob = Chat(sdk), Chat(sdk)
    for one in (ann, bob):
        await one.say("same words")

    said = [await ann.say("I am Ann"), await bob.say("I am Bob"), await ann.say("who?")]
    assert said[1] == "2: same words|1: same words|I am Bob"
    assert "Bob" not in said[2]
    assert ann.last["prolocutor"]["dialog_id"] != bob.last["prolocutor"]["dialog_id"]


async def test_strangers_who_sent_different_attributes_do_not_meet(sdk: SdkScript) -> None:
    ann = Chat(sdk, extra_body={"attributes": {"name": "Ann"}})
    bob = Chat(sdk)
    await ann.say("equal words")
    first = await sdk.call(
        "call", method="chat.completions.create", **bob.options,
        messages=[{"role": "user", "content": "equal words"}],
    )  # fmt: skip
    bob.messages = ann.messages[:]
    reply = await bob.say("and now?")

    dialogs = {one["prolocutor"]["dialog_id"] for one in (ann.last, bob.last, first)}
    assert len(dialogs) == 3
    assert reply == "1: equal words|1: equal words|and now?"


async def test_an_edit_branches_off_with_the_open_ask_before_it(sdk: SdkScript) -> None:
    chat = Chat(sdk)
    assert await chat.say("book a table") == "For how many?"
    assert chat.last["prolocutor"]["ask"] == "number"
    assert await chat.say("4") == "Where?\n1. Inside\n2. Garden\nPlan: https://example.org/plan"
    assert chat.last["prolocutor"]["choices"] == ["Inside", "Garden"]

    edited, again = chat.fork(2), chat.fork(2)
    assert (await edited.say("6")).startswith("Where?")
    assert (await again.say("4")).startswith("Where?")
    assert "booked for" in await chat.say("2")
    assert len({one.last["prolocutor"]["dialog_id"] for one in (chat, edited, again)}) == 3


async def test_a_foreign_history_is_the_context_of_a_new_dialog(sdk: SdkScript) -> None:
    chat = Chat(sdk)
    chat.messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "I like tea"},
        {"role": "assistant", "content": "noted"},
    ]
    assert await chat.say("what do I like?") == "1: I like tea|noted|what do I like?"
    assert await chat.say("sure?") != "1: sure?"


async def test_a_user_or_a_conversation_is_known_by_its_name(sdk: SdkScript) -> None:
    async def say(text: str, **options: Any) -> str:
        given = await sdk.call(
            "call", method="chat.completions.create", model="concierge",
            messages=[{"role": "user", "content": text}], **options,
        )  # fmt: skip
        return str(given["choices"][0]["message"]["content"])

    first = [await say("a", user="zoe"), await say("b", user="zoe")]
    named = [await say(text, metadata={"conversation_id": "c1"}) for text in ("x", "y")]
    assert first == ["1: a", "2: a|1: a|b"]
    assert named == ["1: x", "2: x|1: x|y"]


async def test_a_stream_is_put_together_by_the_package_itself(sdk: SdkScript) -> None:
    given = await sdk.call(
        "streamed_chat", model="concierge/counter",
        messages=[{"role": "user", "content": "stream"}], stream_options={"include_usage": True},
    )  # fmt: skip
    final = given["final"]
    assert final["choices"][0]["message"]["content"] == "1: stream"
    assert final["choices"][0]["finish_reason"] == "stop"
    assert final["usage"]["completion_tokens"] > 0

    chunks = await sdk.call(
        "call", method="chat.completions.create", model="concierge", stream=True,
        messages=[{"role": "user", "content": "raw"}],
    )  # fmt: skip
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert chunks[-1]["prolocutor"]["skill"] == "counter"
    assert chunks[-1]["prolocutor"]["by"] == "confidence"


async def test_responses_go_on_by_the_id_of_the_last(sdk: SdkScript) -> None:
    async def respond(text: Any, **options: Any) -> dict[str, Any]:
        given: dict[str, Any] = await sdk.call(
            "call", method="responses.create", model="concierge", input=text, **options
        )
        return given

    first = await respond("one", instructions="be kind", metadata={"a": "b"})
    second = await respond("two", previous_response_id=first["id"])
    fork = await respond("three", previous_response_id=first["id"])
    assert [one["output_text"] for one in (first, second)] == ["1: one", "2: one|1: one|two"]
    assert fork["output_text"] == "3: one|1: one|three"
    assert fork["prolocutor"]["dialog_id"] != second["prolocutor"]["dialog_id"]

    shown = await sdk.call("call", method="responses.retrieve", response_id=first["id"])
    assert shown["output_text"] == "1: one"
    assert shown["instructions"] == "be kind"
    assert shown["metadata"] == {"a": "b"}
    items = await sdk.call("pages", method="responses.input_items.list", response_id=second["id"])
    assert items[0]["content"][0]["text"] == "two"
    await sdk.call("call", method="responses.delete", response_id=first["id"])
    with pytest.raises(SdkError, match="NotFoundError"):
        await sdk.call("call", method="responses.retrieve", response_id=first["id"])


async def test_a_streamed_response_is_whole_to_the_package(sdk: SdkScript) -> None:
    given = await sdk.call("streamed_response", model="concierge", input="flow")

    assert given["text"] == "1: flow"
    assert given["types"] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    shown = await sdk.call("call", method="responses.retrieve", response_id=given["final"]["id"])
    assert shown["output_text"] == "1: flow"


async def test_a_conversation_is_made_talked_in_listed_and_ended(sdk: SdkScript) -> None:
    made = await sdk.call("call", method="conversations.create", metadata={"topic": "tea"})
    for text in ("one", "two"):
        given = await sdk.call(
            "call", method="responses.create", model="concierge", input=text,
            conversation=made["id"],
        )  # fmt: skip
    items = await sdk.call(
        "pages", method="conversations.items.list", conversation_id=made["id"], limit=3
    )
    assert given["output_text"] == "2: one|1: one|two"
    assert given["conversation"] == {"id": made["id"]}
    assert [item["role"] for item in items] == ["assistant", "user", "assistant", "user"]
    ended = await sdk.call("call", method="conversations.delete", conversation_id=made["id"])
    assert ended["deleted"]


@pytest.mark.parametrize(
    ("error", "param", "arguments"),
    [
        ("NotFoundError", "model", {"model": "concierg"}),
        ("NotFoundError", "model", {"model": "concierge/nobody"}),
        ("BadRequestError", "n", {"n": 2}),
        ("BadRequestError", "messages", {"messages": []}),
        ("BadRequestError", "messages", {"messages": [{"role": "assistant", "content": "hi"}]}),
        ("BadRequestError", "tool_choice", {"tool_choice": "required"}),
        ("BadRequestError", "tools", {"tools": [{"type": "function", "function": {}}]}),
        (
            "UnprocessableEntityError",
            "response_format",
            {"response_format": {"type": "json_object"}},
        ),
        ("BadRequestError", "messages", {"messages": [{"role": "user", "content": "x" * 100_001}]}),
    ],
)
async def test_a_refused_request_is_the_packages_own_exception(
    sdk: SdkScript, error: str, param: str, arguments: dict[str, Any]
) -> None:
    given = {"model": "concierge", "messages": [{"role": "user", "content": "hi"}], **arguments}
    with pytest.raises(SdkError, match=error) as raised:
        await sdk.call("call", method="chat.completions.create", **given)

    assert raised.value.values["param"] == param
    assert raised.value.values["type"] == "invalid_request_error"
