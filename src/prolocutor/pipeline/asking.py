"""Asking: one service asked once in a turn, by one call or several, and what each call is shown."""

from __future__ import annotations

from typing import Any

from prolocutor.dialog import plain
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ServiceError
from prolocutor.pipeline.calls import ServiceCall
from prolocutor.pipeline.draft import Draft, DraftHypothesis
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.pipeline.requests import PayloadRequest, StateRequest
from prolocutor.pipeline.waves import Wave

AnyRequest = StateRequest | PayloadRequest


class Asking:
    """One service being asked; `replies` stand by position of the call.

    `wave` and `candidates` are those that a candidate annotator is asked about.
    """

    __slots__ = ("calls", "candidates", "failed", "left", "replies", "step", "wave")

    def __init__(
        self, step: ServiceStep, wave: Wave | None, candidates: list[DraftHypothesis] | None
    ) -> None:
        self.step = step
        self.wave = wave
        self.candidates = candidates
        self.left = 0
        self.failed = 0
        self.replies: list[Plain | ServiceError] = []
        self.calls: list[ServiceCall[tuple[Asking, int]]] = []

    def expect(self, number: int) -> None:
        """Make room for so many replies."""
        self.left = number
        self.replies = [_PENDING] * number

    def failures(self) -> list[ServiceError]:
        """Return the calls that went wrong."""
        return [reply for reply in self.replies if isinstance(reply, ServiceError)]

    def only(self) -> Plain:
        """Return the one reply of a service that is called once; `BadReply` if it was not."""
        if len(self.replies) != 1:
            raise BadReply(f"{len(self.replies)} replies where one is wanted")
        (reply,) = self.replies
        assert isinstance(reply, Plain)
        return reply

    def joined(self) -> Plain:
        """Return one annotation: the reply, or the list of replies of a fan-out."""
        if not self.step.fan_out:
            return self.only()
        good = [reply for reply in self.replies if isinstance(reply, Plain)]
        encoded = b",".join([reply.encoded for reply in good])
        return Plain([reply.value for reply in good], b"[%b]" % encoded)


_PENDING = ServiceError("no reply yet")


def requests_for(
    asking: Asking, draft: Draft, turn_id: str, seconds: float, extra: dict[str, Any] | None
) -> list[AnyRequest]:
    """Cut out of the dialog what each call of a service is shown.

    A candidate annotator is called once for each hypothesis; a formatter with `fan_out` gives a
    list, one call for each item. What a formatter raises is raised.
    """
    step, candidates = asking.step, asking.candidates
    shown = draft.shown(step.window, step.only)
    tail = step.tail_of(turn_id)
    key = f"{turn_id}/{step.name}"
    states: list[AnyRequest]
    if candidates is None or step.fan_out:
        tail += _members(extra) if extra else b"}"
        states = [StateRequest(step.name, turn_id, key, seconds, shown, tail, step.selecting)]
    else:
        states = [
            StateRequest(
                step.name,
                turn_id,
                key if len(candidates) == 1 else f"{key}/{position}",
                seconds,
                shown,
                b'%b,"hypothesis":%b}' % (tail, candidate.encoded),
                False,
            )
            for position, candidate in enumerate(candidates)
        ]
    if step.format_request is None:
        return states
    payloads = [step.format_request(state.value()) for state in states]
    if step.fan_out:
        payloads = _tasks(payloads[0], candidates, draft.candidates())
    return [
        PayloadRequest(
            step.name,
            turn_id,
            key if len(payloads) == 1 else f"{key}/{position}",
            seconds,
            _checked(payload),
        )
        for position, payload in enumerate(payloads)
    ]


def _tasks(
    tasks: Any, candidates: list[DraftHypothesis] | None, every: list[DraftHypothesis]
) -> list[Any]:
    """Return one task for each call; of tasks for every hypothesis only those of this wave."""
    if not isinstance(tasks, list):
        raise BadReply(f"a formatter that fans out gives a list, not a {type(tasks).__name__}")
    if candidates is None or len(tasks) == len(candidates):
        return tasks
    if len(tasks) != len(every):
        raise BadReply(f"{len(tasks)} tasks for {len(candidates)} hypotheses")
    return [task for task, one in zip(tasks, every, strict=True) if one in candidates]


def _checked(payload: Any) -> bytes:
    return plain.check(
        payload, max_bytes=plain.MAX_STATE_BYTES, max_depth=plain.MAX_STATE_DEPTH
    ).encoded


def _members(extra: dict[str, Any]) -> bytes:
    return b"," + plain.encode(extra)[1:]
