"""An assistant as an agent that observes and acts: it runs unchanged in ParlAI's worlds.

Source: ParlAI 1.7.2, `parlai.core.agents.Agent` and `parlai.core.worlds` (`BatchWorld` calls
`batch_act` of the first agent with what its clones' `observe` returned). ParlAI is not needed.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Self, cast

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.runner import LoopThread
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.evaluated_assistant import reply_candidates
from prolocutor.plugins.evaluation.parlai.message import Message

OPENING: Final = "Hi!"
"""The assistant's input where it has to act before it observed a message, as in self-chat."""

Observation = Mapping[str, Any]


class AssistantPartner:
    """An assistant in a dialog: `observe` a message, await an `act`.

    Every episode has a new user. Texts observed before an act are joined, a line each. Padding and
    empty input are answered with an act without text.
    """

    def __init__(self, assistant: Assistant, *, id: str = "assistant") -> None:
        self.id = id
        self._assistant = assistant
        self._user = ""
        self._heard: list[str] = []
        self._observed = self._episode_done = False
        self.reset()

    def observe(self, observation: Observation) -> Observation:
        """Take note of a message and return it; after the last message of an episode a new dialog
        begins.
        """
        if self._episode_done:
            self.reset()
        self._observed = True
        self._episode_done = bool(observation.get("episode_done"))
        text = observation.get("text")
        if isinstance(text, str) and not observation.get("batch_padding"):
            self._heard.append(text)
        return observation

    async def act(self) -> Message:
        """Return the reply: `text`, `confidence`, and all hypotheses as `text_candidates`."""
        heard, self._heard = self._heard, []
        if not self._observed:
            heard = [OPENING]
        if not heard:
            return Message(id=self.id, episode_done=False)
        result = await self._assistant.turn("\n".join(heard), user=self._user, channel="parlai")
        return Message(
            id=self.id,
            text=result.reply.text,
            confidence=result.reply.confidence,
            text_candidates=reply_candidates(result.reply.text, result.hypotheses),
            episode_done=False,
        )

    def reset(self) -> None:
        """Begin a dialog with a new user."""
        self._user = f"parlai-{new_id()}"
        self._heard = []
        self._observed = self._episode_done = False


class AssistantAgent:
    """An assistant as ParlAI's worlds use an agent: `AssistantAgent.of(Assistant(...))`.

    A subclass that ParlAI itself makes, as `Class(opt)` and, for clones, `Class(opt, shared)`,
    overrides `open_assistant(opt)`. Clones share the assistant; each has a dialog of its own. It
    runs in a thread of its own until `shutdown` of the first agent or the end of the interpreter.
    """

    def __init__(
        self, opt: Mapping[str, Any] | None = None, shared: Mapping[str, Any] | None = None
    ) -> None:
        self.opt: Mapping[str, Any] = {} if opt is None else opt
        self.id = "assistant"
        self._owner = shared is None
        self._first = shared.get("first") if shared else None
        self._loop: LoopThread[Assistant] = (
            LoopThread(self.open_assistant(self.opt), "assistant")
            if shared is None
            else shared["assistant"]
        )
        if shared is None:
            self._closing = weakref.finalize(self, self._loop.close)
        self._partner = AssistantPartner(self._loop.opened, id=self.id)

    @classmethod
    def of(
        cls,
        assistant: AbstractAsyncContextManager[Assistant],
        opt: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make an agent of an assistant that is not started yet; the agent starts and closes it."""
        return cls(opt, {"assistant": LoopThread(assistant, "assistant")})._take_ownership()

    def open_assistant(self, opt: Mapping[str, Any]) -> AbstractAsyncContextManager[Assistant]:
        """Return the assistant of these options, not started yet."""
        raise BadInput("make the agent of an assistant with AssistantAgent.of(assistant)")

    def observe(self, observation: Observation) -> Message:
        """Take note of a message and return a copy by which `batch_act` finds the clone."""
        observed = _Observed(observation)
        observed.partner = self._partner
        self._partner.observe(observation)
        return observed

    def act(self) -> Message:
        """Answer the observed message."""
        return self._loop.call(self._partner.act())

    def batch_act(self, observations: Sequence[Observation]) -> list[Message]:
        """Answer what several clones observed, all at once.

        An observation that was not made by a clone gets a dialog of its own.
        """
        partners = [self._find_partner(observation) for observation in observations]
        return self._loop.call(_all(partner.act() for partner in partners))

    def respond(self, text_or_message: str | Observation, **fields: Any) -> str:
        """Return the reply to one message, in a dialog of its own."""
        said = {"text": text_or_message} if isinstance(text_or_message, str) else text_or_message
        clone = self.clone()
        clone.observe({"episode_done": True, **said, **fields})
        return str(clone.act().get("text", ""))

    def batch_respond(self, messages: Sequence[Observation]) -> list[str]:
        """Return the replies to several messages, each in a dialog of its own."""
        observed = [self.clone().observe({"episode_done": True, **one}) for one in messages]
        return [str(act.get("text", "")) for act in self.batch_act(observed)]

    def reset(self) -> None:
        """Begin a dialog with a new user."""
        self._partner.reset()

    def share(self) -> dict[str, Any]:
        """Return the parts of a clone: `share()["class"](opt, share())` makes it."""
        first = self._first or self  # lives as long as its clones, and the assistant with it
        return {"class": type(self), "opt": self.opt, "assistant": self._loop, "first": first}

    def clone(self) -> Self:
        """Return an agent with the same assistant and a dialog of its own."""
        return type(self)(self.opt, self.share())

    def shutdown(self) -> None:
        """Close the assistant, if this agent started it."""
        if self._owner:
            self._closing()

    def getID(self) -> str:  # noqa: N802 - ParlAI's name
        """Return the agent's name."""
        return self.id

    def epoch_done(self) -> bool:
        """Return False: it has no data."""
        return False

    def reset_metrics(self) -> None:
        """Do nothing: it has no metrics."""

    def save(self, path: str | None = None) -> None:
        """Do nothing: an assistant is its file."""

    @classmethod
    def upgrade_opt(cls, opt_from_disk: Any) -> Any:
        """Return the options as they are."""
        return opt_from_disk

    def _take_ownership(self) -> Self:
        self._owner = True
        self._closing = weakref.finalize(self, self._loop.close)
        return self

    def _find_partner(self, observation: Observation) -> AssistantPartner:
        if isinstance(observation, _Observed):
            return observation.partner
        partner = AssistantPartner(self._loop.opened, id=self.id)
        partner.observe(observation)
        return partner


class FileAgent(AssistantAgent):
    """The assistant of the option `assistant_file`; its dialogs are in memory.

    With `assistant_store`, such as `sqlite:///dialogs.db`, they are stored there. For ParlAI's own
    commands: `-m prolocutor.plugins.evaluation.assistant_agent:FileAgent --assistant-file FILE`.
    """

    @classmethod
    def add_cmdline_args(cls, parser: Any, partial_opt: Any = None) -> Any:
        """Add the options to ParlAI's parser."""
        group = parser.add_argument_group("Prolocutor")
        group.add_argument("--assistant-file", help="the YAML file of the assistant")
        group.add_argument("--assistant-store", default="memory:", help="where dialogs are kept")
        return parser

    def open_assistant(self, opt: Mapping[str, Any]) -> AbstractAsyncContextManager[Assistant]:
        """Return the assistant of the file, its processes included."""
        file = opt.get("assistant_file")
        if not file:
            raise BadInput("--assistant-file names the file of the assistant", field="opt")
        return build_assistant(
            load(file), store=opt.get("assistant_store") or "memory:", recording=False
        )


class _Observed(Message):
    """An observation that knows its dialog."""

    partner: AssistantPartner


async def _all(acts: Any) -> list[Message]:
    coroutines = cast("list[Coroutine[Any, Any, Message]]", list(acts))
    return list(await asyncio.gather(*coroutines))
