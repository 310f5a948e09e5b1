"""The names of DREAM's formatters and connectors in YAML, each made at its first use.

In `prolocutor.plugins.deeppavlov.dream`, `formatter: ...:cropped_dialog` is the built-in dialog
formatter of that name, `response_formatter: ...:base_skill_formatter` the response formatter.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import msgspec

from prolocutor.bounds import about
from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import AgentOptions, Connector, ServiceContext
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.formatters import Widening
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import DialogFormatter, EarlierDialog
from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.replies import RESPONSE_FORMATTERS
from prolocutor.plugins.deeppavlov.python_connectors.built_in_connectors import make_built_in
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment

State = dict[str, Any]

MODULE = "prolocutor.plugins.deeppavlov.dream"

SEVERAL = frozenset({"speech_function_hypotheses_predictor_formatter"})
"""The formatters that make a request for each hypothesis; all others make a single request."""

_NOT_OF_THE_DIALOG = frozenset(
    "turn_id service hypotheses hypothesis forced preferred counts active_skills".split()
)


class RequestFormatter:
    """A dialog formatter of DREAM as a service's `formatter`: makes a request of a state."""

    is_own = True

    def __init__(self, formatter: DialogFormatter) -> None:
        self.hypotheses = formatter.hypotheses
        self.counts = formatter.counts
        self.skills = formatter.skills
        if formatter.repeats and formatter.window is not None:
            self.widens = Widening(formatter.window | 1, "#repeat")
        self.fan_out = formatter.name in SEVERAL
        self._formatter = formatter

    def __call__(self, state: State, **options: Any) -> Any:
        """Return the service's request; a list where there are several requests."""
        requests = self._formatter.requests(read_dialog(state), _earlier(state), **options)
        return requests if self.fan_out else _only(requests)


def _earlier(state: State) -> EarlierDialog:
    """Return the facts about the utterances before the window of a state."""
    shown, heard, said = (
        len(state[kind]) for kind in ("utterances", "human_utterances", "bot_utterances")
    )
    counts = state.get("counts", {"utterances": shown, "human_utterances": heard})
    skills = state.get("active_skills", ())
    if "active_skill" in state["utterances"][-1]:
        said -= 1  # the reply of this turn
    return EarlierDialog(
        utterances=counts["utterances"] - shown,
        human_utterances=counts["human_utterances"] - heard,
        active_skills=skills[: max(0, len(skills) - said)],
    )


def read_dialog(state: State) -> State:
    """Return the dialog of a state, without the fields about the call.

    An unset persona is an empty object in DeepPavlov Agent, and an empty list here.
    """
    dialog = {key: value for key, value in state.items() if key not in _NOT_OF_THE_DIALOG}
    for who in ("human", "bot"):
        if dialog[who].get("persona") == []:
            dialog[who] = {**dialog[who], "persona": {}}
    return dialog


def window_size(formatter: DialogFormatter) -> int | None:
    """Return the number of utterances that a formatter needs, None for all.

    A window starts with a human utterance, so its number is odd.
    """
    if formatter.widest is None:
        return None
    return formatter.widest | 1


class ImportedFormatter:
    """A dialog formatter of the user's own, which may look at the whole dialog."""

    hypotheses = True
    counts = False
    fan_out = False

    def __call__(
        self, state: State, *, function: str, several: bool = False, **options: Any
    ) -> Any:
        """Return the only request that the function makes, or all of them in a list."""
        requests = resolve(function)(read_dialog(state), **options)
        return requests if several else _only(requests)


imported_formatter = ImportedFormatter()


def last_words(reply: State) -> State:
    """Return the words of the last chance with the confidence that they have once they are stored.

    DeepPavlov Agent reads a stored confidence of 0 as 1.
    """
    return {"confidence": 1, **reply}


def _only(requests: Any) -> Any:
    if not isinstance(requests, list) or len(requests) != 1:
        raise ValueError("expected a list of one request")
    return requests[0]


class CallbackConnector:
    """A class connector of the user's own: `send` is given a callback, by which the reply comes."""

    def __init__(self, send: Callable[..., Any]) -> None:
        self._send = send

    async def __call__(self, task: Any) -> Any:
        """Return the value passed to the callback; raise an exception passed to it."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def callback(task_id: str, response: Any) -> None:
            if not reply.done():
                reply.set_result(response)

        await self._send(payload={"task_id": "", "payload": task}, callback=callback)
        response = await reply
        if isinstance(response, BaseException):
            raise response
        return response


class DreamConnector(AgentOptions, frozen=True, kw_only=True):
    """A Python connector of DREAM by its class, built in or imported."""

    main: ClassVar[str] = "class_name"
    rest: ClassVar[str] = "arguments"

    class_name: Annotated[str, about("The class.", what="the name of a class")]
    arguments: Annotated[JsonObject, about("The arguments of the class.", hidden=True)] = (
        msgspec.field(default_factory=dict)
    )

    def build(self, context: ServiceContext) -> Connector:
        """Make the connector; raise `ConfigError` for a class of neither kind."""
        try:
            call = make_built_in(self.class_name, self.arguments, DreamEnvironment.read(os.environ))
        except KeyError as error:
            raise ConfigError(f"{self.class_name} needs {error}", key=context.name) from None
        if call is None:
            call = CallbackConnector(resolve(self.class_name)(**self.arguments).send)
        return PythonConnector(call, name=context.name, inline=True)


def __getattr__(name: str) -> Callable[..., Any]:
    """Return the formatter of the name."""
    if name in FORMATTERS:
        return RequestFormatter(FORMATTERS[name])
    if name in RESPONSE_FORMATTERS:
        return RESPONSE_FORMATTERS[name]
    raise AttributeError(name)


def __dir__() -> list[str]:
    return [*globals(), *FORMATTERS, *RESPONSE_FORMATTERS]
