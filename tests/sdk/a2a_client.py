"""A client made with the A2A SDK, at any binding of 1.0 and 0.3."""

import asyncio
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, create_client
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
)
from a2a.utils.signing import create_signature_verifier
from answering import answer
from google.protobuf.json_format import MessageToDict, ParseDict

clients: dict[str, Any] = {}
begun = asyncio.Event()
REQUESTS = {
    "get_task": GetTaskRequest,
    "list_tasks": ListTasksRequest,
    "cancel_task": CancelTaskRequest,
    "create_task_push_notification_config": TaskPushNotificationConfig,
    "get_task_push_notification_config": GetTaskPushNotificationConfigRequest,
    "list_task_push_notification_configs": ListTaskPushNotificationConfigsRequest,
    "delete_task_push_notification_config": DeleteTaskPushNotificationConfigRequest,
    "get_extended_agent_card": GetExtendedAgentCardRequest,
}


async def connect(
    url: str, binding: str, version: str, streaming: bool, token: str | None = None
) -> str:
    """Read the card and connect to one of its addresses; return the client's name."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    http = httpx.AsyncClient(headers=headers, timeout=60)
    card = await A2ACardResolver(http, url).get_agent_card()
    kept = [
        interface
        for interface in card.supported_interfaces
        if (interface.protocol_binding, interface.protocol_version) == (binding, version)
    ]
    chosen = AgentCard()
    chosen.CopyFrom(card)
    del chosen.supported_interfaces[:]
    chosen.supported_interfaces.extend(kept)
    config = ClientConfig(
        streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding]
    )
    name = str(len(clients))
    clients[name] = await create_client(chosen, config)
    return name


async def send(client: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Send a message and return the events."""
    wanted = ParseDict(request, SendMessageRequest())
    return [MessageToDict(event) async for event in clients[client].send_message(wanted)]


async def subscribe(client: str, id: str) -> list[dict[str, Any]]:
    """Follow a task to its end and return the events."""
    events = []
    async for event in clients[client].subscribe(SubscribeToTaskRequest(id=id)):
        events.append(MessageToDict(event))
        if len(events) == 1:
            begun.set()
    return events


async def following() -> None:
    """Wait until a task is being followed."""
    await begun.wait()
    begun.clear()


async def call(client: str, method: str, request: dict[str, Any]) -> Any:
    """Call any other method."""
    wanted = ParseDict(request, REQUESTS[method]())
    found = await getattr(clients[client], method)(wanted)
    return None if found is None else MessageToDict(found)


async def verify(url: str, key: str, algorithm: str) -> dict[str, Any]:
    """Read a card whose signature has to be good, and return it."""
    check = create_signature_verifier(lambda kid, jku: key, [algorithm])
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card(signature_verifier=check)
    return MessageToDict(card)


if __name__ == "__main__":
    answer(connect, send, subscribe, following, call, verify)
