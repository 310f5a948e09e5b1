"""A2aConnector: an agent that speaks A2A as a skill.

Source: the A2A protocol, versions 1.0 and 0.3, over JSON-RPC and REST. The agent's context is our
dialog. A question of the agent (`INPUT_REQUIRED`) becomes an ask, whose context in the dialog's
round names the task, so the connector keeps no state between turns.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Final

from prolocutor.asks.answer_forms import GIVEN_UP
from prolocutor.background import BackgroundTasks
from prolocutor.bounds import Seconds, about
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.connectors.parts.url import Url
from prolocutor.contracts.connector import (
    AgentOptions,
    BearerKey,
    Confidence,
    Headers,
    Replies,
    Request,
    running_effect,
)
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.plain import JsonObject, Plain, check
from prolocutor.errors import (
    BadReply,
    ServiceError,
    ServiceRefused,
    ServiceUnreachable,
)
from prolocutor.plugins.a2a.connector.answering import read_hypotheses
from prolocutor.plugins.a2a.connector.asking import AgentQuestion, read_question
from prolocutor.plugins.a2a.connector.endpoint import AgentEndpoint, AgentRefusal
from prolocutor.plugins.a2a.connector.gathering import GatheredAnswer
from prolocutor.plugins.a2a.connector.peer import (
    MAX_AGE,
    OLD_PATH,
    A2aPeer,
    Binding,
    ProtocolVersion,
)
from prolocutor.plugins.a2a.wire.core import CARD_PATH, RUNNING

log = logging.getLogger(__name__)

DEFAULT_CONFIDENCE: Final = 0.5
POLLING: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.0)
"""Seconds between looks at a task that runs on; the last goes on."""

CANCEL_TIMEOUT: Final = 5.0
"""Seconds for a task to be cancelled that nobody waits for any more."""

_INVALID_PARAMS: Final = -32602


class A2aConnector:
    """The way to the agent behind `url`: its address, or that of its card.

    The agent gets the person's words in the context of the dialog; with a formatter, the
    formatter's result: a text, or `{text?, parts?, context_id?, metadata?}`. Cancelling a call
    cancels its task.
    """

    def __init__(self, options: A2aAgent, *, name: str) -> None:
        self.name = name
        self._confidence = options.confidence
        self._streams = options.stream
        bearer = {"Authorization": f"Bearer {options.key}"} if options.key else {}
        self._peer = A2aPeer(
            options.url,
            headers={**(options.headers or {}), **bearer},
            binding=options.binding,
            version=options.version,
            tenant=options.tenant,
            max_age=options.max_age,
        )
        self._leaving = BackgroundTasks("cancelling of a task")

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Send a message for each request."""
        return await each_alone(self._ask, requests)

    async def preview(self, request: Request) -> JsonObject:
        """Return the arguments that a call would send: the members of its data parts."""
        data = read_question(request.value(), self.name).data
        return {"fields": data, "changeable": bool(data)}

    async def describe(self) -> JsonObject:
        """Return `description` and `examples` from the agent's card, of all its skills."""
        return (await self._peer.card()).describe_skills()

    async def aclose(self) -> None:
        """Wait until abandoned tasks are cancelled, then close the connections."""
        await self._leaving.wait_until_ended(CANCEL_TIMEOUT)
        await self._peer.aclose()

    async def _ask(self, request: Request) -> Plain:
        asked = read_question(request.value(), self.name)
        if (effect := running_effect.get()) is not None:
            asked.take_effect(effect.key, effect.fields)
        endpoint = await self._peer.endpoint()
        if asked.is_cancelled:
            if asked.waiting is not None:
                await self._cancel(endpoint, asked.waiting.task, "")
            return check([{"text": GIVEN_UP, "confidence": 1.0}] if asked.is_given_up else [])
        try:
            answer = await self._answer(endpoint, asked, request)
        except (ServiceUnreachable, ServiceRefused):
            self._peer.doubt()
            raise
        return check(read_hypotheses(answer, asked, self.name, self._confidence))

    async def _answer(
        self, endpoint: AgentEndpoint, asked: AgentQuestion, request: Request
    ) -> GatheredAnswer:
        """Send the message; if the agent refuses its task or context, send it without them."""
        task, context = asked.waiting is not None, True
        while True:
            try:
                return await self._sent(endpoint, asked, request, task=task, context=context)
            except AgentRefusal as error:
                if task and error.is_gone:
                    task = False
                elif context and not asked.own_context and error.number == _INVALID_PARAMS:
                    task = context = False
                else:
                    raise

    async def _sent(
        self,
        endpoint: AgentEndpoint,
        asked: AgentQuestion,
        request: Request,
        *,
        task: bool,
        context: bool,
    ) -> GatheredAnswer:
        answer = GatheredAnswer(request.deltas)
        message = asked.message(request.key, task=task, context=context)
        headers = call_headers((request,))
        streams = self._streams and endpoint.streams
        try:
            whole = await endpoint.send(message, headers, answer.take, streams=streams)
            if not whole and not answer.task_id:
                raise ServiceUnreachable("the stream broke off in the middle of the answer")
            await self._follow(endpoint, answer)
            if not answer.is_whole:
                raise BadReply("it answers neither with a message nor with a task")
        except BaseException as error:
            # A task that nobody waits for any more is not to run on.
            began = isinstance(error, asyncio.CancelledError) or answer.task_id
            if began and not answer.is_whole:
                self._leave(endpoint, answer.task_id or message.task_id, message.context_id)
            raise
        return answer

    async def _follow(self, endpoint: AgentEndpoint, answer: GatheredAnswer) -> None:
        """Poll a running task until it has a result."""
        looks = iter(POLLING)
        pause = POLLING[0]
        while not answer.is_whole and answer.task_id:
            pause = next(looks, pause)
            await asyncio.sleep(pause)
            answer.take_task(await endpoint.task(answer.task_id))

    # -- tasks that nobody waits for ----------------------------------------------------------

    def _leave(self, endpoint: AgentEndpoint, task_id: str, context_id: str) -> None:
        """Cancel a task in the background after its call has ended."""
        self._leaving.start(self._cancel(endpoint, task_id, context_id))

    async def _cancel(self, endpoint: AgentEndpoint, task_id: str, context_id: str) -> None:
        """Cancel a task, or without its id all running tasks of the context; never raise."""
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT):
                ids = [task_id] if task_id else await _running(endpoint, context_id)
                for one in ids:
                    await endpoint.cancel(one)
        except (ServiceError, TimeoutError) as error:
            log.info("%s: a task could not be cancelled: %r", self.name, error)


async def _running(endpoint: AgentEndpoint, context_id: str) -> list[str]:
    found = await endpoint.running(context_id) if context_id else []
    return [task.id for task in found if task.status.state in RUNNING]


class A2aAgent(AgentOptions, frozen=True, kw_only=True):
    """An agent that speaks A2A."""

    describes: ClassVar[bool] = True
    makes: ClassVar[Callable[..., Any]] = A2aConnector

    url: Annotated[str, about("The address of the agent or of its card.", what="a URL")]
    key: BearerKey = None
    headers: Headers = None
    binding: Annotated[Binding | None, about("The binding to use, one of those on the card.")] = (
        None
    )
    version: Annotated[
        ProtocolVersion | None,
        about("The version of the protocol to use, one of those on the card."),
    ] = None
    tenant: Annotated[str | None, about("The tenant to use, one of those on the card.")] = None
    stream: Annotated[bool, about("Whether answers are streamed if the agent can stream.")] = True
    confidence: Confidence = DEFAULT_CONFIDENCE
    max_age: Annotated[Seconds, about("The time for which the agent's card is kept.")] = MAX_AGE

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Look for a card: at the address, below it, or at the root of its host."""
        cards = (CARD_PATH, OLD_PATH)
        here = probe.base(*cards)
        root = str(Url.read(here).replace_path("/")).rstrip("/")
        places = {base + card: base for base in (here, root) for card in cards}
        if here.endswith(".json"):
            places = {here: here, **places}
        for place, url in places.items():
            card = (await probe.get(place)).json()
            if not isinstance(card, dict) or not isinstance(card.get("name"), str):
                continue
            if not {"supportedInterfaces", "url", "protocolVersion"} & card.keys():
                continue
            told = str(card.get("description", "")).strip()
            return FoundService(
                what="an A2A agent",
                name=card["name"],
                call=url,
                certainty=1.0 if probe.path.endswith((".json", "/a2a")) else 0.8,
                notes=[f"it says of itself: {told[:200]}"] if told else [],
            )
        return None
