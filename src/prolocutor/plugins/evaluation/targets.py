"""Targets: the kinds of evaluated systems, and how each is run.

An assistant (its file or an object), an agent that observes and acts (a name, a class or an
object), or a function from text to text.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Protocol

from prolocutor.dialog.turn_request import takes_requests
from prolocutor.errors import BadInput, BadReply, ConfigError
from prolocutor.functions import resolve
from prolocutor.names import suggest
from prolocutor.plugins.evaluation.episodes import Episode
from prolocutor.plugins.evaluation.evaluated_agent import (
    EvaluatedAgent,
    Message,
    ObserveActAgent,
    SystemReply,
    set_seed,
)
from prolocutor.plugins.evaluation.owned_folder import content_hash, module_file
from prolocutor.plugins.evaluation.parlai.agents import AGENTS
from prolocutor.plugins.evaluation.runner import Runner

_ASSISTANT: Final = "prolocutor.plugins.evaluation.evaluated_assistant"


class EvaluationTarget(Protocol):
    """An evaluated system. `content`: a hash of its source, None if not known."""

    name: str
    content: str | None

    def run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode through the runner; not to be called where an event loop runs."""

    async def run_async(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode through the runner, in the running event loop."""


def find_target(subject: object, options: Mapping[str, Any], seed: int) -> EvaluationTarget:
    """Return the target of a name, a path or an object; `options` belong to an agent.

    Raise `BadInput` for a subject that cannot be evaluated, `ConfigError` for an agent that cannot
    be made.
    """
    given = {"seed": seed, "datatype": "valid", **options}
    if isinstance(subject, str | Path):
        return _named_target(str(subject), given)
    if inspect.isclass(subject) and hasattr(subject, "__aenter__"):
        what = f"{_dotted_name(subject)} is a class: give an assistant that was made of it"
        raise BadInput(what, field="subject")
    if hasattr(subject, "__aenter__"):
        # The assistants' imports are left out for agents, which start faster without.
        target: EvaluationTarget = importlib.import_module(_ASSISTANT).AssistantTarget(subject)
        return target
    if inspect.isclass(subject):
        return _agent_target(
            _dotted_name(subject), subject, given, _module_hash(_dotted_name(subject))
        )
    if callable(getattr(subject, "observe", None)):
        dotted = _dotted_name(type(subject))
        return AgentTarget(dotted, _only(subject), _module_hash(dotted))
    if callable(subject) and takes_requests(subject):
        of_skill: EvaluationTarget = importlib.import_module(_ASSISTANT).SkillTarget(
            subject, _dotted_name(subject), _module_hash(_dotted_name(subject))
        )
        return of_skill
    if inspect.iscoroutinefunction(subject):
        return FunctionTarget(subject)
    if callable(subject):
        dotted = _dotted_name(subject)
        return AgentTarget(dotted, lambda: FunctionAgent(subject), _module_hash(dotted))
    kind = type(subject).__name__
    what = f"an object of type {kind} is not an assistant, agent or function"
    raise BadInput(what, field="subject")


def may_report_metrics(subject: str) -> bool:
    """Return whether the named subject may report metrics of its own, as only agents can."""
    return subject not in AGENTS and ":" in subject and not Path(subject).exists()


class AgentTarget:
    """An agent that observes and acts; `make` returns a new agent."""

    def __init__(
        self, name: str, make: Callable[[], ObserveActAgent], content: str | None = None
    ) -> None:
        self.name = name
        self.content = content
        self._make = make

    def run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode."""
        with closing(EvaluatedAgent(self._make)) as agent:
            runner.run_agent(agent, episodes)

    async def run_async(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode, in threads."""
        with closing(EvaluatedAgent(self._make)) as agent:
            await runner.run(agent, episodes)


class FunctionAgent:
    """A function from the text of an example to an answer: a text, or an act as a dictionary."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._id = _object_name(function)
        self._text: Any = None

    def observe(self, observation: Message) -> Message:
        """Take note of a message."""
        self._text = observation.get("text")
        return observation

    def act(self) -> dict[str, Any]:
        """Return the function's answer as an act."""
        return make_act(self._function(self._text), self._id)

    def clone(self) -> FunctionAgent:
        """Return another agent of the same function."""
        return FunctionAgent(self._function)


class FunctionTarget:
    """An async function from text to an answer; also the system and each of its dialogs."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.name = _dotted_name(function)
        self.content = _module_hash(self.name)
        self._function = function

    def run(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode."""
        asyncio.run(runner.run(self, episodes))

    async def run_async(self, runner: Runner, episodes: Iterable[Episode]) -> None:
        """Ask it every episode."""
        await runner.run(self, episodes)

    async def begin(self, seed: int) -> FunctionTarget:
        """Open a dialog; a function is called with one message at a time."""
        set_seed(seed)
        return self

    def end(self, dialog: object, *, stuck: bool) -> None:
        """Do nothing: a function remembers nothing."""

    async def answer(self, message: Message) -> SystemReply:
        """Return the function's answer."""
        name = _object_name(self._function)
        return SystemReply(make_act(await self._function(message.get("text")), name), name)


def make_act(answer: object, name: str) -> dict[str, Any]:
    """Return a function's answer as an act; raise `BadReply` for neither text nor dictionary."""
    if isinstance(answer, str):
        return {"id": name, "text": answer}
    if isinstance(answer, Mapping):
        return {"id": name, **answer}
    raise BadReply(f"{name} returned a {type(answer).__name__}, not a text or a dictionary")


def _named_target(name: str, options: dict[str, Any]) -> EvaluationTarget:
    path = Path(name)
    if name in AGENTS:
        return _agent_target(name, AGENTS[name], options)
    if ":" in name and not path.exists():
        made = resolve(name)
        return _agent_target(name, made, options, _module_hash(name))
    if not path.exists():
        what = "neither an assistant's file, nor module:Class of an agent, nor a baseline agent"
        raise BadInput(f"{name}: this is {what}; {suggest(name, AGENTS)}")
    target: EvaluationTarget = importlib.import_module(_ASSISTANT).FileTarget(path)
    return target


def _module_hash(dotted: str) -> str | None:
    """Return a hash over the module of `module:attribute`; None if it has no file."""
    file = module_file(dotted)
    return content_hash([file]) if file else None


def _agent_target(
    name: str, make: Callable[..., Any], options: dict[str, Any], content: str | None = None
) -> AgentTarget:
    return AgentTarget(name, lambda: _made(name, make, options), content)


def _made(name: str, make: Callable[..., Any], options: dict[str, Any]) -> ObserveActAgent:
    """Make an agent, with its options as the first argument if it takes any, as ParlAI does."""
    try:
        takes = bool(inspect.signature(make).parameters)
        agent = make(dict(options)) if takes else make()
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError(f"the agent {name} cannot be made: {what}") from error
    for method in ("observe", "act"):
        if not callable(getattr(agent, method, None)):
            raise ConfigError(f"the agent {name} has no {method}()")
    found: ObserveActAgent = agent
    return found


def _only(agent: Any) -> Callable[[], ObserveActAgent]:
    """Return a function that gives the agent once; a second open dialog needs a clone."""
    first = [agent]

    def give() -> ObserveActAgent:
        if not first:
            what = "has no clone(), which several dialogs at once and time limits need"
            raise ConfigError(f"the agent {_dotted_name(type(agent))} {what}; give its class")
        found: ObserveActAgent = first.pop()
        return found

    return give


def _dotted_name(named: object) -> str:
    return f"{getattr(named, '__module__', '?')}:{_object_name(named)}"


def _object_name(named: object) -> str:
    return str(getattr(named, "__qualname__", type(named).__name__))
