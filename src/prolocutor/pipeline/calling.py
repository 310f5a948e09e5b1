"""The only way to call a service, in a turn or outside of turns.

`ask_once` makes the calls of a question to a service and collects their replies. A turn asks many
services side by side and waits for all of them; `ask_service` asks a service and waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import msgspec

from prolocutor.contracts.selection import Effects
from prolocutor.dialog import plain
from prolocutor.dialog.plain import OwnReply, Plain, PlainItems
from prolocutor.dialog.turn_request import TurnRequest
from prolocutor.errors import BadReply, ServiceError, ServiceRaised
from prolocutor.functions import text_and_place
from prolocutor.pipeline.calls import RunningCalls, ServiceCall, Strays
from prolocutor.pipeline.draft import DraftHypothesis
from prolocutor.pipeline.ledger import SkillWave
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.pipeline.replies import EffectsReply, checked_effects
from prolocutor.pipeline.requests import AnyRequest
from prolocutor.plan.pipeline import Formatter

CallToken = tuple["CallGroup", int]
"""The key of a settled call: its group, and its position there."""

_PENDING = ServiceError("no reply yet")


class CallGroup(msgspec.Struct, eq=False):
    """The calls of a question to a service, and their replies by position.

    - `wave` and `about` are the wave and the hypotheses in a candidate annotator's question.
    - `reshape` is the response formatter of the replies, `turn` returns the turn's state for
      formatters.
    - `left` counts the unfinished calls.
    - `counted`: failures count for the service's breaker.
    """

    step: ServiceStep
    replies: list[Plain | ServiceError]
    left: int
    reshape: Formatter | None
    wave: SkillWave | None = None
    about: list[DraftHypothesis] | None = None
    failed: int = 0
    counted: bool = True
    calls: list[ServiceCall[CallToken]] | None = None
    turn: Callable[[], object] | None = None

    def take(self, position: int, outcome: Any) -> bool:
        """Take in the outcome of a call, of any type; return whether the call was the last."""
        if self.step.reads_replies or type(outcome) is not Plain:
            outcome = self._read(outcome)
            if not isinstance(outcome, Plain):
                if self.counted:
                    self.step.guard.note(outcome)
                self.failed += 1
        self.replies[position] = outcome
        self.left = left = self.left - 1
        if not left and self.calls is not None:
            self.calls.clear()  # they hold the group by their tokens
        return not left

    def _read(self, outcome: Any) -> Plain | ServiceError:
        """Return the outcome of a call, of any type, as a reply or an error."""
        given = outcome  # of no type: a connector may break its promise
        if isinstance(outcome, Plain) and type(given.encoded) is bytes:
            read: Plain | ServiceError = outcome
            if self.step.guard.is_foreign and not _is_own(outcome):
                read = _checked_again(outcome)
            if self.reshape is not None and isinstance(read, Plain) and not _is_own(read):
                read = _format_reply(self.reshape, read, self.turn)
            return read
        if isinstance(outcome, ServiceError):
            return outcome
        return ServiceRaised(f"its connector gave a {type(outcome).__name__}")

    def failures(self) -> list[ServiceError]:
        """Return the errors of the failed calls."""
        return [reply for reply in self.replies if isinstance(reply, ServiceError)]

    def only(self) -> Plain:
        """Return the only reply; raise `BadReply` for any number but 1."""
        if len(self.replies) != 1:
            raise BadReply(f"{len(self.replies)} replies where one is wanted")
        reply = self.replies[0]
        assert type(reply) is Plain or isinstance(reply, Plain)
        return reply

    def annotation_value(self) -> Plain | None:
        """Return an annotation: the reply, or the list of replies of a fan-out.

        It is `{}` if the formatter found nothing to ask, None if the replies have effects alone.
        """
        if not self.replies and self.step.may_skip:
            return Plain({}, b"{}")
        if not self.step.fan_out:
            return _reply_value(self.only())
        each = [_reply_value(reply) for reply in self.replies if isinstance(reply, Plain)]
        good = [reply for reply in each if reply is not None]
        if each and not good:
            return None
        encoded = b",".join([reply.encoded for reply in good])
        return Plain([reply.value for reply in good], b"[%b]" % encoded)


def new_group(
    step: ServiceStep,
    number: int,
    wave: SkillWave | None = None,
    about: list[DraftHypothesis] | None = None,
) -> CallGroup:
    """Return the group of `number` calls of a service."""
    return CallGroup(step, [_PENDING] * number, number, step.format_reply, wave, about)


def ask_once(
    group: CallGroup,
    requests: Sequence[AnyRequest],
    seconds: float,
    calls: RunningCalls[CallToken],
    now: float,
) -> None:
    """Make a call for each request of a group; the outcomes wait in `calls.settled`."""
    guard = group.step.guard
    if guard.immediate:
        if len(requests) == 1:
            calls.settled.append(((group, 0), guard.answer(requests[0])))
            return
        for position, request in enumerate(requests):
            calls.settled.append(((group, position), guard.answer(request)))
        return
    started = group.calls = []
    for position, request in enumerate(requests):
        work = guard.call(request)
        call = calls.start(work, (group, position), seconds, now, guard.task_name)
        if not call.over:
            started.append(call)


async def ask_service(
    step: ServiceStep,
    requests: Sequence[AnyRequest],
    seconds: float,
    strays: Strays,
    *,
    turn: Callable[[], object] | None = None,
    formatted: bool = True,
    counted: bool = True,
) -> CallGroup:
    """Ask a service once, outside of a turn's graph, and wait until all its replies are there.

    `turn` returns the turn's state for its response formatter. Without `counted`, its breaker
    neither stops the calls nor counts their failures.
    """
    group = new_group(step, len(requests))
    group.counted = counted
    if step.formats_by_turn:
        group.turn = turn
    ask = ask_once if counted else _ask_alone
    if not formatted:
        group.reshape = None
    calls: RunningCalls[CallToken] = RunningCalls(asyncio.get_running_loop(), strays)
    now = monotonic()
    try:
        with calls.apart:
            ask(group, requests, seconds, calls, now)
        while group.left:
            if not calls.settled:
                await calls.wait(now + seconds)
            while calls.settled:
                (_, position), outcome = calls.settled.popleft()
                group.take(position, outcome)
    finally:
        calls.close()
    return group


def _ask_alone(
    group: CallGroup,
    requests: Sequence[AnyRequest],
    seconds: float,
    calls: RunningCalls[CallToken],
    now: float,
) -> None:
    """Make the calls of a group as `ask_once` does, past the service's breaker."""
    guard = group.step.guard
    for position, request in enumerate(requests):
        calls.start(guard.call_alone(request), (group, position), seconds, now, guard.task_name)


def _is_own(reply: Plain) -> bool:
    """Return whether the assistant made the reply itself; formatters do not read such replies."""
    return isinstance(reply, OwnReply)


def _checked_again(reply: Plain) -> Plain | ServiceError:
    """Encode the reply of a foreign connector again: wrong bytes would spoil the store."""
    try:
        if isinstance(reply, PlainItems):
            return PlainItems.collect([_item_again(item) for item in reply.items])
        return plain.check(reply.value)
    except BadReply as error:
        return error
    except BaseException as error:
        return ServiceRaised(f"its connector gave no JSON: {type(error).__name__}")


def _item_again(item: Any) -> Plain | ServiceError:
    if isinstance(item, ServiceError):
        return item
    try:
        return plain.check(item.value)
    except BadReply as error:
        return error


def _reply_value(reply: Plain) -> Plain | None:
    """Return a reply, None if only its effects count."""
    return None if type(reply) is EffectsReply and not reply.has_value else reply


def _format_reply(
    format_reply: Formatter, reply: Plain, turn: Callable[[], object] | None
) -> Plain | ServiceError:
    """Apply a response formatter; return its error as a failure of its service."""
    try:
        if turn is None:
            formatted = format_reply(reply.value)
        else:
            formatted = format_reply(reply.value, turn=TurnRequest(turn()))
        return (
            checked_effects(formatted) if isinstance(formatted, Effects) else plain.check(formatted)
        )
    except ServiceError as error:
        return error
    except BaseException as error:
        return ServiceRaised(f"response formatter: {text_and_place(error)}")
