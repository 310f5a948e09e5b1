"""The request of a call of a service: the agent state of a snapshot, or a formatter's payload.

Each service gets its own copy. A request for the wire is joined from bytes without decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from prolocutor.contracts.connector import DeltaSink
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import ModelWishes, TurnStart
from prolocutor.dialog.plain import Plain, check, decode, encode
from prolocutor.errors import BadReply, ServiceError, ServiceRaised
from prolocutor.functions import text_and_place
from prolocutor.pipeline.draft import DraftHypothesis
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.pipeline.snapshot import DialogSnapshot, State, copied, json_list


class StateRequest(msgspec.Struct, frozen=True, eq=False):
    """The windowed agent state, and the additions of the stage: `extra`, and hypotheses.

    A candidate annotator sees `about`, a hypothesis or (`together`) several. A response selector
    also finds the hypotheses of the last human utterance at the top level. `number` tells the calls
    of a service apart, None for a single call. A formatter with a true attribute `counts` finds the
    numbers of utterances of the whole dialog in `counts`, regardless of the window; a formatter
    with a true attribute `skills` finds the skill of each bot utterance before this turn in
    `active_skills`. `reading` tells the calls about another reading of the words apart.
    """

    step: ServiceStep
    turn_id: str
    timeout: float
    snapshot: DialogSnapshot
    extra: State | None = None
    about: DraftHypothesis | list[DraftHypothesis] | None = None
    number: int | None = None
    deltas: DeltaSink | None = None
    wishes: ModelWishes | None = None
    reading: int = 0

    @property
    def service(self) -> str:
        """Name of the service."""
        return self.step.name

    @property
    def key(self) -> str:
        """`<turn_id>/<service>[/reading-n][/n]`."""
        return self.numbered_key(self.number)

    def numbered_key(self, number: int | None) -> str:
        """Return the key of the call with a number, None for a single call."""
        reading = f"/reading-{self.reading}" if self.reading else ""
        key = f"{self.turn_id}/{self.step.name}{reading}"
        return key if number is None else f"{key}/{number}"

    @property
    def state(self) -> StateRequest:
        """The agent state of the request: the request itself."""
        return self

    def value(self) -> State:
        """Return a fresh copy of the state."""
        return self._whole(self.snapshot.copy(), copied)

    def copy_human_utterance(self) -> State:
        """Return a fresh copy of the human utterance of this turn."""
        return self.snapshot.copy_human_utterance()

    def copy_human_member(self, key: str) -> Any:
        """Return a fresh copy of a member of the human utterance of this turn, except `user`."""
        return self.snapshot.copy_human_member(key)

    def copy_bot_utterance(self) -> State | None:
        """Return a fresh copy of the bot utterance of this turn, None before it is chosen."""
        return self.snapshot.copy_bot_utterance()

    def member(self, key: str) -> Any:
        """Return a fresh copy of a member of the state beside the dialog, None if it is missing."""
        if key == "hypotheses" and self.step.selecting:
            return self.snapshot.copy_human_member(key)
        of_call = {"turn_id": self.turn_id, "service": self.step.name}
        return copied({**of_call, **self._additions()}.get(key))

    def shared_state(self) -> State:
        """Return the state without copying its parts, for a formatter that does not change them."""
        return self._whole(self.snapshot.shared_state(), _keep_part)

    def _whole(self, state: State, part: Callable[[State], State]) -> State:
        """Return the state with this request's additions; `part` copies them, or not."""
        step = self.step
        state["turn_id"] = self.turn_id
        state["service"] = step.name
        if self.extra is not None or self.about is not None:
            state.update(part(self._additions()))
        if step.selecting:
            state["hypotheses"] = state["human_utterances"][-1]["hypotheses"]
        if step.counts:
            state["counts"] = self.snapshot.utterance_counts()
        if step.reads_skills:
            state["active_skills"] = self.snapshot.active_skills()
        return state

    def _additions(self) -> State:
        """Return the additions of the turn for this request: `extra`, and hypotheses."""
        about, extra = self.about, self.extra or {}
        if about is None:
            return extra
        if isinstance(about, list):
            return {**extra, "hypotheses": [one.template for one in about]}
        return {**extra, "hypothesis": about.template}

    def body(self) -> bytes:
        """Return the state as JSON, joined from the bytes of its parts."""
        spliced = self.snapshot.splice_state()
        own: State = {"turn_id": self.turn_id, "service": self.step.name, **(self.extra or {})}
        pieces = [spliced.front, b",", encode(own)[1:-1]]
        about = self.about
        if isinstance(about, list):
            pieces += (b',"hypotheses":', json_list(one.json_bytes for one in about))
        elif about is not None:
            pieces += (b',"hypothesis":', about.json_bytes)
        pieces += (b',"human_utterances":', spliced.humans, b',"bot_utterances":', spliced.bots)
        if self.step.selecting:
            pieces += (b',"hypotheses":', spliced.hypotheses)
        pieces.append(b"}")
        return b"".join(pieces)


def _keep_part(state: State) -> State:
    return state


class PayloadRequest:
    """The payload from a formatter, or from a caller outside of turns.

    A payload without a value is decoded on demand. `state` is the formatter's request, None outside
    of turns.
    """

    __slots__ = ("_encoded", "_first", "deltas", "key", "service", "state", "timeout", "turn_id")

    def __init__(
        self,
        service: str,
        turn_id: str,
        key: str,
        timeout: float,
        payload: Plain,
        deltas: DeltaSink | None = None,
        state: StateRequest | None = None,
    ) -> None:
        self.state = state
        self.service = service
        self.turn_id = turn_id
        self.key = key
        self.timeout = timeout
        self.deltas = deltas
        self._encoded = payload.encoded
        self._first = payload.value

    @classmethod
    def outside_turns(cls, service: str, value: Any, timeout: float = 60.0) -> PayloadRequest:
        """Return a request outside of turns, with a new id; `timeout` is in seconds."""
        turn_id = new_id()
        return cls(service, turn_id, f"{turn_id}/{service}", timeout, check(value))

    @property
    def wishes(self) -> ModelWishes | None:
        """The wishes of the turn's client for chat models."""
        return None if self.state is None else self.state.wishes

    def value(self) -> Any:
        """Return a fresh copy of the payload; the first call returns the checked value itself."""
        first, self._first = self._first, None
        return decode(self._encoded) if first is None else first

    def body(self) -> bytes:
        """Return the payload as JSON."""
        return self._encoded


AnyRequest = StateRequest | PayloadRequest


def make_requests(
    step: ServiceStep,
    snapshot: DialogSnapshot,
    turn_id: str,
    seconds: float,
    extra: State | None = None,
    about: list[DraftHypothesis] | None = None,
    every: Sequence[DraftHypothesis] = (),
    deltas: DeltaSink | None = None,
    wishes: ModelWishes | None = None,
    reading: int = 0,
) -> Sequence[AnyRequest]:
    """Return the request of each call of a service; errors of its formatter pass through.

    A candidate annotator is asked `about` some hypotheses of `every`: once for each, or once for
    all (`together`). A formatter with `fan_out` returns a list with an item for each call; a
    formatter with a true attribute `may_skip` returns None if it has nothing to ask. `deltas` takes
    the words of a service with a single call, `wishes` are the client's wishes for chat models.
    `reading` is the number of another reading of the words.
    """
    if about is None or step.fan_out:
        states = [
            StateRequest(
                step, turn_id, seconds, snapshot, extra, None, None, deltas, wishes, reading
            )
        ]
    elif step.together:
        states = [StateRequest(step, turn_id, seconds, snapshot, extra, about)]
    else:
        states = []
        for number, one in enumerate(about):
            place = None if len(about) == 1 else number
            states.append(StateRequest(step, turn_id, seconds, snapshot, extra, one, place))
    return states if step.format_request is None else _format_requests(step, states, about, every)


def _format_requests(
    step: ServiceStep,
    states: list[StateRequest],
    about: list[DraftHypothesis] | None,
    every: Sequence[DraftHypothesis],
) -> list[AnyRequest]:
    """Return the requests with the payloads of the service's formatter."""
    own, first, format_request = step.own_formatter, states[0], step.format_request
    assert format_request is not None
    payloads = [format_request(state.shared_state() if own else state.value()) for state in states]
    if step.fan_out:
        payloads = _tasks(payloads[0], about, every)
    elif step.may_skip:
        payloads = [one for one in payloads if one is not None]
    alone = len(payloads) == 1
    requests: list[AnyRequest] = []
    for number, payload in enumerate(payloads):
        key = first.numbered_key(None if alone else number)
        # Parts of the state are JSON already, so what our own formatters make of them is.
        plain_payload = Plain(None, encode(payload)) if own else checked_payload(payload)
        requests.append(
            PayloadRequest(
                step.name, first.turn_id, key, first.timeout, plain_payload, first.deltas, first
            )
        )
    return requests


def request_additions(
    step: ServiceStep,
    start: TurnStart,
    forced: str | None,
    preferred: str | None,
    instead: Mapping[str, str | None],
) -> State | None:
    """Return the additions to a request: of a forced skill, or of a selector.

    Selectors find in `instead` the skills to ask in place of others, None: the skill is not
    asked.
    """
    if step.name == forced:
        return start.extra
    if not (step.selecting or step.is_skill_selector):
        return None
    extra: State = {}
    if instead:
        extra["instead"] = dict(instead)
    if step.selecting and forced is not None:
        extra["forced"] = forced
    elif step.selecting and preferred is not None:
        extra["preferred"] = preferred
    return extra or None


def formatter_failure(error: BaseException) -> ServiceError:
    """Return a formatter's error as a failure of its service."""
    if isinstance(error, BadReply):
        return error
    return ServiceRaised(f"formatter: {text_and_place(error)}")


def checked_payload(payload: Any) -> Plain:
    """Check a payload; raise `BadReply` with the place of a value that is not JSON."""
    return plain.check(payload, max_bytes=plain.MAX_PAYLOAD_BYTES, max_depth=plain.MAX_STATE_DEPTH)


def _tasks(
    tasks: Any, about: list[DraftHypothesis] | None, every: Sequence[DraftHypothesis]
) -> list[Any]:
    """Return a task for each call: of tasks for every hypothesis, only the tasks of this wave."""
    if not isinstance(tasks, list):
        raise BadReply(f"a formatter that fans out gives a list, not a {type(tasks).__name__}")
    if about is None or len(tasks) == len(about):
        return tasks
    if len(tasks) != len(every):
        raise BadReply(f"{len(tasks)} tasks for {len(about)} hypotheses")
    wanted = {one.id for one in about}
    return [task for task, one in zip(tasks, every, strict=True) if one.id in wanted]
