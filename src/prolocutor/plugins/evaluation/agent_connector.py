"""ParlaiConnector: agents written for ParlAI as a skill, a clone of the agent for each dialog.

Source: ParlAI 1.7.2, `parlai.core.agents` (`observe`, `act`, `self_observe`, `share`). ParlAI
itself is not needed: acts and observations are dictionaries.
"""

from __future__ import annotations

import ast
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from prolocutor.bounds import about
from prolocutor.connectors.parts.worker_threads import WorkerThreads
from prolocutor.contracts.connector import (
    AgentOptions,
    Confidence,
    Replies,
    Request,
    ServiceContext,
)
from prolocutor.dialog.plain import check
from prolocutor.errors import BadReply, ConfigError, ServiceError
from prolocutor.functions import resolve

CONFIDENCE: Final = 0.5
"""The confidence of an act without `confidence`."""

Opt = Mapping[str, Any]


class ParlaiConnector:
    """The way to a ParlAI-style agent: `package.module:Class?option=value&...`, a class, an agent.

    The agent is made once, with `opt`, when it is first asked; every dialog talks to a clone of it
    (by `share`, else by `clone`, else by making the agent again). A function in place of the class
    makes the agent: `function(opt)`. The clones of the latest `max_dialogs` dialogs stay in memory.
    Where the clone is missing, or its observations differ from the dialog, a new clone is made and
    observes the window. Calls run in at most `max_threads` threads. `confidence` is the confidence
    of acts without one; an act without text is not a hypothesis.
    """

    def __init__(
        self,
        agent: Any,
        *,
        name: str,
        batched: bool = False,
        opt: Opt | None = None,
        max_dialogs: int = 1000,
        max_threads: int = 16,
        confidence: float = CONFIDENCE,
    ) -> None:
        self.name = name
        self._clones = _AgentClones(_maker(agent, dict(opt or {})), max_dialogs)
        self._confidence = confidence
        self._batched = batched
        self._threads = WorkerThreads(name, max_threads)

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Let the clones observe the new utterances and act; raise `ServiceRaised` if a clone
        raises.
        """
        if not self._batched:
            return await self._ask(requests[0])
        return [await self._ask_alone(request) for request in requests]

    async def aclose(self) -> None:
        """End idle threads and drop the agents."""
        self._threads.close()
        self._clones.close()

    async def _ask(self, request: Request) -> Replies:
        return await self._threads.run(self._act, request.value(), lambda one: (check(one),))

    async def _ask_alone(self, request: Request) -> Any:
        try:
            return (await self._ask(request))[0]
        except ServiceError as error:
            return error

    def _act(self, state: Any) -> list[dict[str, Any]]:
        """Return the hypotheses of one agent in a dialog; runs in a thread."""
        dialog, said = _dialog(state)
        clone = self._clones.take(dialog)
        if clone is None or not clone.follows(said):
            clone = _AgentClone(self._clones.make())
            clone.observe(said)
        else:
            clone.observe(said[clone.place(said) + 1 :])
        act = clone.act(said[-1].id)
        self._clones.put_back(dialog, clone)
        return self._hypotheses(act)

    def _hypotheses(self, act: Mapping[str, Any]) -> list[dict[str, Any]]:
        text = act.get("text")
        if not isinstance(text, str) or not text:
            return []
        confidence = act.get("confidence")
        if not isinstance(confidence, int | float) or isinstance(confidence, bool):
            confidence = self._confidence
        return [{"text": text, "confidence": float(confidence)}]


class _WindowUtterance(msgspec.Struct, frozen=True):
    """An utterance of the window."""

    id: str
    text: str
    by_bot: bool


def _dialog(state: Any) -> tuple[str, list[_WindowUtterance]]:
    """Read the agent state: which dialog it is, and its window up to the last human utterance."""
    try:
        said = [
            _WindowUtterance(one["utt_id"], one["text"], "active_skill" in one)
            for one in state["utterances"]
        ]
        return state["dialog_id"], said
    except (KeyError, TypeError) as error:
        raise BadReply(f"an agent needs the agent state, without a formatter ({error!r})") from None


class _AgentClone:
    """One clone of the agent: the id of its last observation, and its act on it."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self._observed = ""
        self._reply: str | None = None
        self._observes_itself = callable(getattr(agent, "self_observe", None))

    def follows(self, said: Sequence[_WindowUtterance]) -> bool:
        """Return whether the clone's observations agree with the dialog up to the last utterance.

        An agent that keeps its own utterances (`self_observe`) must also have given the stored
        reply.
        """
        place = self.place(said)
        if not -1 < place < len(said) - 1:
            return False
        return not self._observes_itself or any(
            one.by_bot and one.text == self._reply for one in said[place + 1 : place + 2]
        )

    def place(self, said: Sequence[_WindowUtterance]) -> int:
        """Return the index of the utterance that the clone observed last; -1 if the window lacks
        it.
        """
        return next((n for n, one in enumerate(said) if one.id == self._observed), -1)

    def observe(self, said: Sequence[_WindowUtterance]) -> None:
        """Let the agent observe a person's utterances, and the bot's as its own."""
        has_observed = bool(self._observed)
        mine, self._reply = self._reply, None
        for one in said:
            message = {"text": one.text, "episode_done": False}
            if not one.by_bot:
                self.agent.observe({"id": "human", **message})
                has_observed = True
            elif self._observes_itself and has_observed and mine is None:
                self.agent.self_observe({"id": "bot", **message})
            mine = None if one.by_bot else mine

    def act(self, observed: str) -> Mapping[str, Any]:
        """Let the agent act on its latest observation, the utterance `observed`."""
        act = self.agent.act()
        if not isinstance(act, Mapping):
            raise BadReply(f"an act is a dictionary, not a {type(act).__name__}")
        text = act.get("text")
        self._observed, self._reply = observed, text if isinstance(text, str) else None
        return act


class _AgentClones:
    """The clones of one agent by dialog; a clone in use is taken out."""

    def __init__(self, make: Callable[[], Any], most: int) -> None:
        self._make = make
        self._most = most
        self._lock = threading.Lock()
        self._first: Any = None
        self._by_dialog: OrderedDict[str, _AgentClone] = OrderedDict()

    def make(self) -> Any:
        """Return a new clone."""
        with self._lock:
            if self._first is None:
                self._first = self._make()
            first = self._first
            if callable(getattr(first, "share", None)):
                shared = first.share()
                return shared.get("class", type(first))(shared.get("opt"), shared)
            if callable(getattr(first, "clone", None)):
                return first.clone()
            return self._make()

    def take(self, dialog: str) -> _AgentClone | None:
        """Take out and return the clone of a dialog; None if it is missing or in use."""
        with self._lock:
            return self._by_dialog.pop(dialog, None)

    def put_back(self, dialog: str, clone: _AgentClone) -> None:
        """Put a clone back, and drop the clones that were unused for the longest time."""
        with self._lock:
            self._by_dialog[dialog] = clone
            while len(self._by_dialog) > self._most:
                self._by_dialog.popitem(last=False)

    def close(self) -> None:
        """Drop all clones, and shut down the first agent."""
        with self._lock:
            first, self._first = self._first, None
            self._by_dialog.clear()
        if callable(shutdown := getattr(first, "shutdown", None)):
            shutdown()


def _maker(agent: Any, opt: dict[str, Any]) -> Callable[[], Any]:
    """Return the function that makes the first agent; raise `ConfigError` if `agent` is not an
    agent.
    """
    if isinstance(agent, str):
        dotted, _, options = agent.partition("?")
        opt = {**{name: _value(text) for name, text in parse_qsl(options)}, **opt}
        agent = resolve(dotted)
    if isinstance(agent, type):
        missing = [verb for verb in ("observe", "act") if not hasattr(agent, verb)]
        if missing:
            raise ConfigError(f"{agent.__name__} is not an agent of ParlAI's kind: no {missing[0]}")
    elif hasattr(agent, "observe") and hasattr(agent, "act"):
        if not hasattr(agent, "share") and not hasattr(agent, "clone"):
            raise ConfigError("this agent can be neither shared nor cloned; give its class instead")
        return lambda: agent
    if callable(agent):
        make: Callable[..., Any] = agent
        return lambda: make(opt)
    raise ConfigError(
        f"a {type(agent).__name__} is not an agent: name a class as package.module:Class"
    )


def _value(text: str) -> Any:
    """Read an option: a Python number, True, False, None or quoted text, else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


class ParlaiAgent(AgentOptions, frozen=True, kw_only=True):
    """An agent written for ParlAI."""

    main: ClassVar[str] = "agent"

    agent: Annotated[
        str | Callable[..., Any],
        about("The agent's class, as module:class.", what="module:class"),
    ]
    opt: Annotated[dict[str, Any] | None, about("The agent's options.")] = None
    max_dialogs: Annotated[
        Annotated[int, Meta(ge=1)],
        about("The greatest number of dialogs for which a clone is kept."),
    ] = 1000
    max_threads: Annotated[
        Annotated[int, Meta(ge=1)], about("The greatest number of threads that act at once.")
    ] = 16
    confidence: Confidence = CONFIDENCE

    def build(self, context: ServiceContext) -> ParlaiConnector:
        """Make the connector."""
        return ParlaiConnector(
            self.agent,
            name=context.name,
            batched=context.batched,
            opt=self.opt,
            max_dialogs=self.max_dialogs,
            max_threads=self.max_threads,
            confidence=self.confidence,
        )
