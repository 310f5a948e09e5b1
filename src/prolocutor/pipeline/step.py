"""Step: a service ready to be called, and until when its stage may take."""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.dialog import plain
from prolocutor.pipeline.graph import Node
from prolocutor.pipeline.guard import Guard
from prolocutor.pipeline.plan import Formatter
from prolocutor.pipeline.stages import Stage

MAX_RESERVE: Final = 1.0

_CONDITIONAL: Final = (Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR)


class Limits(msgspec.Struct, frozen=True):
    """Until when each stage may take, in seconds since the turn's start.

    What follows the skills has a reserve at the end: at `deadline - reserve` running skills are
    cancelled. The last twentieth of the reserve is for storing the reply.
    """

    deadline: float
    reserve: float

    @classmethod
    def within(cls, deadline: float, reserve: float | None) -> Limits:
        """Take the usual reserve, a quarter of the deadline up to a second, where none is given."""
        return cls(deadline, min(MAX_RESERVE, deadline / 4) if reserve is None else reserve)

    def end_of(self, stage: Stage) -> float:
        """Return the end of a stage."""
        cut = self.deadline - self.reserve
        match stage:
            case Stage.ANNOTATOR:
                return cut / 2
            case Stage.SKILL_SELECTOR:
                return cut * 3 / 4
            case Stage.SKILL:
                return cut
            case Stage.CANDIDATE_ANNOTATOR:
                return cut + self.reserve * 0.25
            case Stage.RESPONSE_SELECTOR:
                return cut + self.reserve * 0.75
            case Stage.LAST_CHANCE:
                return cut + self.reserve * 0.85
            case Stage.POSTPROCESSOR | Stage.RESPONSE_ANNOTATOR:
                return cut + self.reserve * 0.95


class Step:
    """A service in its place in the graph, with its guard and its formatters.

    `before`, `requires` and `then` are the indices of its neighbours in the graph, `end` the
    seconds after a turn's start when its stage is over. `conditional`: it may have to be skipped.
    """

    __slots__ = (
        "_tail",
        "before",
        "conditional",
        "end",
        "fan_out",
        "format_reply",
        "format_request",
        "guard",
        "index",
        "name",
        "only",
        "requires",
        "selecting",
        "service",
        "stage",
        "then",
        "timeout",
        "window",
    )

    def __init__(
        self,
        node: Node,
        guard: Guard,
        format_request: Formatter | None,
        format_reply: Formatter | None,
        limits: Limits,
    ) -> None:
        service = node.service
        self.index = node.index
        self.stage = node.stage
        self.name = node.name
        self.service = service
        self.guard = guard
        self.format_request = format_request
        self.format_reply = format_reply
        self.fan_out = service.fan_out or bool(getattr(format_request, "fan_out", False))
        self.timeout = service.timeout
        self.end = limits.end_of(node.stage)
        self.before = tuple(other.index for other in node.before)
        self.requires = tuple(other.index for other in node.requires)
        self.then = tuple(other.index for other in node.then)
        self.conditional = bool(node.requires) or node.stage in _CONDITIONAL
        self.window = 1 if service.context == "none" else service.last
        self.only = service.name if service.context == "own" else None
        self.selecting = node.stage is Stage.RESPONSE_SELECTOR
        self._tail = b'","service":%b' % plain.encode(node.name)

    def tail_of(self, turn_id: str) -> bytes:
        """Return what every request of a turn to this service ends with, but for the bracket."""
        return b"".join((b',"turn_id":"', turn_id.encode(), self._tail))
