"""Types of the real AG-UI SDK: runs are requested by them, and every event is read by them."""

from typing import Any

import httpx2
from ag_ui.core import Event, EventType, RunAgentInput
from answering import answer
from pydantic import TypeAdapter

EVENTS: TypeAdapter[Any] = TypeAdapter(Event)


async def runs(url: str, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run one input after the other; return the events of each, and the messages of the client.

    The `interruptId` "last" stands for the last interrupt.
    """
    found, last = [], ""
    async with httpx2.AsyncClient(timeout=60) as http:
        for given in inputs:
            asked = RunAgentInput.model_validate(given)
            for entry in asked.resume or []:
                entry.interrupt_id = entry.interrupt_id.replace("last", last)
            body = asked.model_dump(mode="json", by_alias=True, exclude_none=True)
            response = await http.post(url, json=body)
            response.raise_for_status()
            events = [
                EVENTS.validate_json(line.removeprefix("data: "))
                for line in response.text.split("\n\n")
                if line
            ]
            told = [
                event.model_dump(mode="json", by_alias=True, exclude_none=True) for event in events
            ]
            for interrupt in told[-1].get("outcome", {}).get("interrupts", []):
                last = interrupt["id"]
            found.append({"events": told, "messages": shown(events)})
    return found


def shown(events: list[Any]) -> list[str]:
    """Return the texts of the assistant's messages after these events."""
    messages: dict[str, str] = {}
    for event in events:
        if event.type == EventType.TEXT_MESSAGE_START:
            messages[event.message_id] = ""
        elif event.type == EventType.TEXT_MESSAGE_CONTENT:
            messages[event.message_id] += event.delta
        elif event.type == EventType.MESSAGES_SNAPSHOT:
            messages = {
                message.id: message.content
                for message in event.messages
                if message.role == "assistant"
            }
    return list(messages.values())


if __name__ == "__main__":
    answer(runs)
