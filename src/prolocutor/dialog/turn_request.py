"""TurnRequest: the request to a service, as a type instead of a plain dict."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Final, Protocol, TypeGuard, Union, get_args, get_origin

import msgspec

from prolocutor.dialog import agent_state
from prolocutor.dialog.dialog import Bot, BotUtterance, Dialog, Human, HumanUtterance, Hypothesis
from prolocutor.dialog.ids import DialogId, TurnId, new_id, timestamp
from prolocutor.dialog.plain import JsonObject

Say = Callable[[str], None]
"""Takes the next words of a skill."""

_ADDED: Final = frozenset({"turn_id", "service", "answer", "hypothesis", "hypotheses", "preferred"})
"""The keys of a request beside the agent state of the dialog."""

_MODULES: Final = re.compile(r"\s|\w+\.")


class AskAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a skill's ask.

    - `value` by `kind`: bool (yesno); number; `YYYY-MM-DD`; `HH:MM:SS`; `{latitude, longitude,
      display}`; `{idx, title}` (choice); else a text.
    - `raw` is the person's text, `context` the value sent by the skill with its ask.
    - `kind` is "cancelled" if the person does not answer.
    """

    kind: str
    value: Any = None
    raw: str | None = None
    context: Any = None

    @property
    def cancelled(self) -> bool:
        """Whether the person does not want to answer."""
        return self.kind == "cancelled"

    def __getitem__(self, key: str) -> Any:
        if key not in self.__struct_fields__:
            raise KeyError(key)
        return getattr(self, key)


class StateSource(Protocol):
    """An agent state of a moment, copied when it is read."""

    def value(self) -> Any:
        """Return a copy of all of it."""

    def copy_human_utterance(self) -> JsonObject:
        """Return a copy of the human utterance of this turn."""

    def copy_human_member(self, key: str) -> Any:
        """Return a copy of a member of the human utterance, not of its `user`."""

    def copy_bot_utterance(self) -> JsonObject | None:
        """Return a copy of the bot utterance of this turn; None before it was chosen."""

    def member(self, key: str) -> Any:
        """Return a copy of a member of the request but not of the dialog; None if none."""


def is_state_source(given: object) -> TypeGuard[StateSource]:
    """Return whether an object has the methods of a `StateSource`."""
    return hasattr(given, "copy_human_utterance")


class TurnRequest(Mapping[str, Any]):
    """What a service is shown: the agent state up to this turn, read by attribute or by key.

    A function that declares it gets it: `def parrot(turn: TurnRequest) -> Hypothesis`. Attributes
    are typed and read when they are first used; `turn["utterances"]` is the same as JSON, with all
    keys of the agent state. `turn.utterances` is a window of the dialog up to the present human
    utterance, `turn.text`.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, state: object, say: Say | None = None) -> None:
        self._say = say
        self._source: StateSource | None = None
        self._copied: Mapping[str, Any] | None = None
        self._heard: JsonObject | None = None
        if type(state) is not dict and is_state_source(state):
            self._source = state
        elif isinstance(state, Mapping):
            self._copied = state
        else:
            kind = type(state).__name__
            raise TypeError(f"a TurnRequest shows the agent state, but the request is a {kind}")

    @classmethod
    def of(
        cls,
        text: str,
        *,
        user: str = "user",
        annotations: Mapping[str, Any] | None = None,
        answer: AskAnswer | None = None,
        before: Sequence[str] = (),
    ) -> TurnRequest:
        """Make the request of a turn in which a person says `text`, to try a skill with.

        `before` are the texts of earlier utterances, by the human and the bot in turn.
        """
        human, bot = Human(id=new_id(), user_external_id=user), Bot(id=new_id())
        dialog = Dialog(
            dialog_id=new_id(),
            id=new_id(),
            human=human,
            bot=bot,
            channel_type="python",
            date_start=timestamp(),
            utterances=[
                _heard(said, human) if place % 2 == 0 else _earlier_reply(said, bot)
                for place, said in enumerate(before)
            ],
        )
        dialog.utterances.append(_heard(text, human, annotations))
        state = agent_state.dialog_to_state(dialog)
        state |= {"turn_id": new_id(), "service": "skill"}
        if answer is not None:
            state["answer"] = msgspec.to_builtins(answer)
        return cls(state)

    def __getitem__(self, key: str) -> Any:
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._state)

    def __len__(self) -> int:
        return len(self._state)

    def __repr__(self) -> str:
        return f"<TurnRequest {self.text!r:.80} to {self.service}>"

    def say(self, text: str) -> None:
        """Say the next words of this skill's reply.

        They are shown at once where a client listens and the skill is going to speak; else this
        does nothing. All words together have to be the beginning of the returned text.
        """
        if not isinstance(text, str):
            raise TypeError(f"what is said is a text, not a {type(text).__name__}")
        if self._say is not None:
            self._say(text)

    @property
    def text(self) -> str:
        """The text of the human utterance."""
        text: str = self._heard_member("text")
        return text

    @cached_property
    def annotations(self) -> JsonObject:
        """The annotations of `text`, by the annotator's name."""
        found: JsonObject = self._heard_member("annotations")
        return found

    @property
    def turn_id(self) -> TurnId:
        """The id of this turn, the same when the turn is run again."""
        return TurnId(self._member("turn_id") or "")

    @property
    def service(self) -> str:
        """The name of the asked service."""
        return str(self._member("service") or "")

    @property
    def dialog_id(self) -> DialogId:
        """The id of the dialog."""
        return DialogId(self._state["dialog_id"])

    @property
    def attributes(self) -> JsonObject:
        """The attributes of the dialog."""
        found: JsonObject = self._state.get("attributes", {})
        return found

    @cached_property
    def dialog(self) -> Dialog:
        """The dialog with the window of its utterances."""
        known = {key: value for key, value in self._state.items() if key not in _ADDED}
        return agent_state.dialog_from_state(known)

    @cached_property
    def utterances(self) -> list[HumanUtterance | BotUtterance]:
        """The last utterances, as many as the service's window; the last is this turn's."""
        return [
            agent_state.utterance_from_state(utterance) for utterance in self._state["utterances"]
        ]

    @cached_property
    def utterance(self) -> HumanUtterance:
        """The human utterance of this turn, with its attributes and annotations."""
        return agent_state.human_utterance_from_state(self._heard_state)

    @cached_property
    def reply(self) -> BotUtterance | None:
        """The bot utterance of this turn, for services after the response selector."""
        if self._copied is None and self._source is not None:
            said = self._source.copy_bot_utterance()
        else:
            last: JsonObject = self._state["utterances"][-1]
            said = last if agent_state.is_bot(last) else None
        return None if said is None else agent_state.bot_utterance_from_state(said)

    @cached_property
    def human(self) -> Human:
        """The human as known at this moment."""
        return agent_state.human_from_state(self._state["human"])

    @cached_property
    def bot(self) -> Bot:
        """The assistant's side of the dialog."""
        return agent_state.bot_from_state(self._state["bot"])

    @cached_property
    def answer(self) -> AskAnswer | None:
        """The answer to this skill's ask, None without an ask."""
        given = self._member("answer")
        return None if given is None else msgspec.convert(given, AskAnswer)

    @cached_property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis in a candidate annotator's question."""
        given = self._member("hypothesis")
        if given is None:
            raise KeyError("hypothesis")
        return agent_state.hypothesis_from_state(given)

    @cached_property
    def hypotheses(self) -> list[Hypothesis]:
        """The hypotheses for a response selector to choose from; empty for other services."""
        given = self._member("hypotheses") or ()
        return [agent_state.hypothesis_from_state(one) for one in given]

    @property
    def preferred(self) -> str | None:
        """The skill able to go on and preferred by response selectors, if any."""
        found: str | None = self._member("preferred")
        return found

    @property
    def _state(self) -> Mapping[str, Any]:
        """All of the agent state: the service's own copy, made when it is first read."""
        if self._copied is None:
            assert self._source is not None
            self._copied = self._source.value()
        return self._copied

    def _member(self, key: str) -> Any:
        """Return a member of this request beside the dialog, None without it."""
        if self._copied is None and self._source is not None:
            return self._source.member(key)
        return self._state.get(key)

    def _heard_member(self, key: str) -> Any:
        """Return a member of the human utterance; a copy of it alone where that will do."""
        if self._heard is None and self._copied is None and self._source is not None:
            return self._source.copy_human_member(key)
        return self._heard_state[key]

    @property
    def _heard_state(self) -> JsonObject:
        if self._heard is None:
            if self._copied is None and self._source is not None:
                self._heard = self._source.copy_human_utterance()
            else:
                self._heard = self._last_heard()
        return self._heard

    def _last_heard(self) -> JsonObject:
        for utterance in reversed(self._state["utterances"]):
            if not agent_state.is_bot(utterance):
                found: JsonObject = utterance
                return found
        raise LookupError("the request shows nothing that a human said")


def _heard(text: str, human: Human, annotations: Mapping[str, Any] | None = None) -> HumanUtterance:
    return HumanUtterance(
        utt_id=new_id(),
        text=text,
        user=human,
        date_time=timestamp(),
        annotations=dict(annotations or {}),
    )


def _earlier_reply(text: str, bot: Bot) -> BotUtterance:
    return BotUtterance(
        utt_id=new_id(),
        text=text,
        orig_text=text,
        active_skill="skill",
        confidence=1.0,
        user=bot,
        date_time=timestamp(),
    )


def taking_dicts(target: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of plain dicts that gives `target` its declared type.

    A function whose first parameter is a `TurnRequest` (or a list of them) gets such; any other
    function is returned as it is. To be called once for each service. Where `takes_requests`, a
    second argument is the function for `TurnRequest.say`.
    """
    declared = _first_parameter(target)
    if declared is TurnRequest:
        return lambda request, say=None, **keys: target(TurnRequest(request, say), **keys)
    if get_origin(declared) in (list, Sequence) and get_args(declared) == (TurnRequest,):
        return lambda requests: target([TurnRequest(one) for one in requests])
    return target


def takes_requests(target: Callable[..., Any]) -> bool:
    """Return whether a function's first parameter is a `TurnRequest`."""
    return _first_parameter(target) is TurnRequest


def _first_parameter(target: Callable[..., Any]) -> Any:
    """Return the type of the first parameter; None if it cannot be known."""
    try:
        try:
            signature = inspect.signature(target, eval_str=True)
        except NameError:  # a name that is imported for the type checker alone
            signature = inspect.signature(target)
    except Exception:  # the annotations of a foreign function may raise anything
        return None
    parameters = list(signature.parameters.values())
    written = parameters[0].annotation if parameters else None
    if isinstance(written, str):
        return _BY_NAME.get(_MODULES.sub("", written))
    return _unwrap(written)


def _unwrap(declared: Any) -> Any:
    """Return the type within `Annotated[...]` and `... | None`; any other as it is."""
    if get_origin(declared) is Annotated:
        return _unwrap(get_args(declared)[0])
    if get_origin(declared) in (Union, UnionType):
        args = [arg for arg in get_args(declared) if arg is not type(None)]
        return _unwrap(args[0]) if len(args) == 1 else declared
    return declared


_BY_NAME: Final = {
    "TurnRequest": TurnRequest,
    "list[TurnRequest]": list[TurnRequest],
    "Sequence[TurnRequest]": list[TurnRequest],
}
