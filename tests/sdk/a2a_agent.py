"""An agent made with the A2A SDK, at all bindings of 1.0 and 0.3, that does what it is told."""

import asyncio
import socket
from typing import Any

import uvicorn
from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from answering import answer
from google.protobuf.json_format import MessageToDict, ParseDict
from starlette.applications import Starlette

seen: list[dict[str, Any]] = []
cancelled: list[str] = []
entered = asyncio.Event()


class Scripted(AgentExecutor):
    """Does what it is told."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        seen.append(
            {
                "text": text,
                "task": context.task_id,
                "context": context.context_id,
                "going_on": context.current_task is not None,
                "parts": [MessageToDict(part) for part in context.message.parts],
            }
        )
        if text.startswith("say "):
            await event_queue.enqueue_event(
                new_text_message(text[4:], context_id=context.context_id, role=Role.ROLE_AGENT)
            )
            return
        if context.current_task is None:
            await event_queue.enqueue_event(
                Task(
                    id=context.task_id,
                    context_id=context.context_id,
                    status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                    history=[context.message],
                )
            )
        work = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is not None:
            await work.start_work()
            await work.add_artifact([Part(text=f"{text} it is")], name="answer")
            await work.complete()
            return
        await work.start_work(work.new_agent_message([Part(text="thinking")]))
        match text:
            case "pieces":
                await work.add_artifact([Part(text="one ")], artifact_id="a")
                await work.add_artifact([Part(text="two")], artifact_id="a", append=True)
                await work.add_artifact(
                    [Part(text=" three")], artifact_id="a", append=True, last_chunk=True
                )
                await work.add_artifact([Part(text="four")], artifact_id="b")
                await work.complete()
            case "data":
                value = ParseDict({"data": {"stars": 3, "deep": {"x": [1]}}}, Part())
                picture = Part(
                    url="https://example.org/a.png", media_type="image/png", filename="a"
                )
                await work.add_artifact([Part(text="a hotel"), value, picture])
                await work.complete()
            case "which":
                said = work.new_agent_message([Part(text="Which city?")])
                await work.requires_input(said)
            case "choose":
                ask = {"type": "ask", "ask": "choice"}
                choices = [{"type": "choice", "title": title} for title in ("tea", "coffee")]
                data = [ParseDict({"data": choice}, Part()) for choice in (*choices, ask)]
                parts = [Part(text="Which one?"), *data]
                await work.requires_input(work.new_agent_message(parts))
            case "fail":
                await work.failed(work.new_agent_message([Part(text="the mill is broken")]))
            case "reject":
                await work.reject(work.new_agent_message([Part(text="not me")]))
            case "auth":
                await work.requires_auth(work.new_agent_message([Part(text="log in")]))
            case "raise":
                raise RuntimeError("it broke")
            case "hang":
                entered.set()
                await asyncio.Event().wait()
            case "later":
                await asyncio.sleep(0.25)
                await work.add_artifact([Part(text="late but there")])
                await work.complete()
            case _:
                await work.add_artifact([Part(text=f"heard: {text}")])
                await work.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        cancelled.append(context.task_id)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def serve(streaming: bool = True) -> str:
    """Serve the agent on a free port; return its address."""
    bound = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    card = AgentCard(
        name="hotels",
        description="Finds hotels.",
        version="1",
        supported_interfaces=[
            AgentInterface(url=url + where, protocol_binding=binding, protocol_version=version)
            for version in ("1.0", "0.3")
            for where, binding in (("/rpc", "JSONRPC"), ("", "HTTP+JSON"))
        ],
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[
            AgentSkill(
                id="find",
                name="find",
                description="Find a hotel.",
                tags=["hotel"],
                examples=["find me a hotel", "where can I sleep in Rome?"],
            )
        ],
    )
    handler = DefaultRequestHandler(
        agent_executor=Scripted(), task_store=InMemoryTaskStore(), agent_card=card
    )
    app = Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
            *create_rest_routes(handler, enable_v0_3_compat=True),
        ]
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    serving.append(asyncio.create_task(server.serve([bound])))
    return url


serving: list[asyncio.Task[None]] = []


async def told() -> list[dict[str, Any]]:
    """Return what the agent was sent since the last time."""
    found = list(seen)
    seen.clear()
    return found


async def until_entered() -> None:
    """Wait until the agent hangs."""
    await entered.wait()
    entered.clear()


async def cancels() -> list[str]:
    """Return the tasks that were cancelled since the last time."""
    found = list(cancelled)
    cancelled.clear()
    return found


if __name__ == "__main__":
    answer(serve, told, until_entered, cancels)
