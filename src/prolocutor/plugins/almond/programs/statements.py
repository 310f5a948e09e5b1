"""Statements: runs a statement of a program and makes the messages about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from prolocutor.plugins.almond.programs import result_messages
from prolocutor.plugins.almond.programs.calling import ProgramCalls, app_name
from prolocutor.plugins.almond.programs.device_classes import DeviceClasses
from prolocutor.plugins.almond.programs.evaluating import MOST_ROWS, Evaluation, ResultRow
from prolocutor.plugins.almond.programs.failures import MissingField, ProgramFailure
from prolocutor.plugins.almond.programs.resolving import EVENT, ValueResolver
from prolocutor.plugins.almond.programs.streams import find_monitor, fresh
from prolocutor.plugins.almond.thingtalk.checked import CheckedStatement
from prolocutor.plugins.almond.thingtalk.printing import show_statement
from prolocutor.plugins.almond.thingtalk.tree import Slice, Statement
from prolocutor.plugins.almond.thingtalk.values import NumberValue

Message = dict[str, Any]


class ShownResult(msgspec.Struct, frozen=True):
    """A result row and the messages that show it."""

    row: ResultRow
    messages: list[Message]


class StatementOutcome(msgspec.Struct, kw_only=True):
    """The outcome of a statement: messages, the results themselves, and errors.

    `shown` are the results in the messages, `acted` says that an action without results was run.
    `seen` are the digests of the results seen by its monitor, `held` says that the condition of its
    edge held for the last result, `more` is the program for further results.
    """

    messages: list[Message] = []
    rows: list[ResultRow] = []
    shown: list[ShownResult] = []
    acted: bool = False
    errors: list[str] = []
    seen: list[str] | None = None
    held: bool = False
    more: str | None = None


class StatementRunner:
    """Runs statements for a person at a moment; `app` is the id of the program."""

    def __init__(self, devices: DeviceClasses, calls: ProgramCalls, app: str) -> None:
        self._devices = devices
        self._calls = calls
        self.resolver = ValueResolver(calls.person, app=app)

    async def run(self, statement: CheckedStatement) -> StatementOutcome:
        """Run a statement without a stream."""
        done = StatementOutcome()
        try:
            await self._chain(statement, [ResultRow(fields={})], done)
        except ProgramFailure as failure:
            done.errors.append(failure.sentence)
        if statement.action is None and len(done.rows) > result_messages.MAX_RESULTS:
            done.more = _more(statement)
            if done.more is not None:
                button = {"type": "button", "title": "More", "json": {"program": done.more}}
                done.messages.append(button)
        if not done.messages and not done.errors:
            done.messages.append(result_messages.text(result_messages.NOTHING))
        return done

    async def run_stream(
        self, statement: CheckedStatement, seen: list[str] | None, *, held: bool = False
    ) -> StatementOutcome:
        """Run a statement for the new results of its stream, or for the result of a timer.

        If all new results fail, they count as new the next time as well.

        """
        done = StatementOutcome(seen=seen, held=held)
        assert statement.stream is not None, "the statement is not a stream"
        try:
            monitor = find_monitor(statement)
            events = [ResultRow(fields={})]
            if monitor is not None:
                evaluation = self._evaluation(statement)
                found = await evaluation.rows(monitor.source, {})
                events, done.seen = fresh(monitor, found, seen)
            evaluation = self._evaluation(statement, events, held=held)
            stream = await evaluation.rows(statement.stream, {})
            done.held = evaluation.held
            await self._chain(statement, stream, done)
        except ProgramFailure as failure:
            done.errors.append(failure.sentence)
            if not done.messages:
                done.seen, done.held = seen, held
        return done

    def program_name(self, statement: CheckedStatement) -> str:
        """Return the name of a program with this statement: the first called skill."""
        if not statement.calls:
            return "timer"
        return app_name(statement.calls[0].owner, self._devices)

    def program_icon(self, statement: CheckedStatement) -> str | None:
        """Return the skill that gives the messages their icon."""
        if not statement.calls:
            return None
        return self._devices.find_skill(statement.calls[0].owner).name

    def _evaluation(
        self,
        statement: CheckedStatement,
        events: list[ResultRow] | None = None,
        *,
        held: bool = False,
    ) -> Evaluation:
        return Evaluation(self._calls, statement.calls, self.resolver, events, held=held)

    async def _chain(
        self, statement: CheckedStatement, starts: Sequence[ResultRow], done: StatementOutcome
    ) -> None:
        """Run the queries for each event, then the action for each result, or show them.

        Results that lack a field for the next call are dropped, with an error.
        """
        evaluation = self._evaluation(statement)
        pairs = [(_scope({}, row), row) for row in starts]
        for query in statement.queries:
            found: list[tuple[dict[str, Any], ResultRow]] = []
            for scope, _ in pairs:
                with _recording_missing(done):
                    rows = await evaluation.rows(query, scope)
                    found += [(_scope(scope, row), row) for row in rows]
                if len(found) >= MOST_ROWS:
                    break
            pairs = found[:MOST_ROWS]
        if statement.action is None:
            done.rows = [row for _, row in pairs]
            done.shown = self._show_rows(done.rows)
            done.messages = _messages(done.shown, len(done.rows))
            return
        for scope, _ in pairs:
            with _recording_missing(done):
                rows = await evaluation.do(statement.action, scope)
                shown = self._show_rows(rows)
                done.rows += rows
                done.shown += shown
                done.acted = done.acted or not rows
                said = [result_messages.text(result_messages.DONE)]
                said = _messages(shown, len(rows)) if rows else said
                done.messages += [one for one in said if one not in done.messages]

    def _show_rows(self, rows: list[ResultRow]) -> list[ShownResult]:
        if rows and rows[0].call is None and not rows[0].fields:
            time = result_messages.text(f"It is {self.resolver.now:%H:%M}.")
            return [ShownResult(rows[0], [time])]
        return [
            ShownResult(row, result_messages.show_result(row))
            for row in rows[: result_messages.MAX_RESULTS]
        ]


def _messages(results: Sequence[ShownResult], rows: int) -> list[Message]:
    """Return the messages of the shown results, and how many more there are of `rows`."""
    messages = [message for result in results for message in result.messages]
    left = rows - len(results)
    return messages if left <= 0 else [*messages, result_messages.text(f"And {left:,} more.")]


@contextmanager
def _recording_missing(done: StatementOutcome) -> Iterator[None]:
    """Record a missing field as an error, once for all results."""
    try:
        yield
    except MissingField as missing:
        if missing.sentence not in done.errors:
            done.errors.append(missing.sentence)


def _more(statement: CheckedStatement) -> str | None:
    """Return the program for the results after the shown results."""
    if len(statement.queries) != 1:
        return None
    query = statement.queries[0]
    first, count = NumberValue(result_messages.MAX_RESULTS + 1), NumberValue(MOST_ROWS)
    match query:
        case Slice(source, NumberValue(base), NumberValue(size)) if base > 0:
            query = source
            first, count = (
                NumberValue(base + result_messages.MAX_RESULTS),
                NumberValue(size - result_messages.MAX_RESULTS),
            )
    rest = Statement(chain=(Slice(query, first, count),))
    return show_statement(rest)


def _scope(scope: dict[str, Any], row: ResultRow) -> dict[str, Any]:
    """Return the fields after a result: its own, earlier results' fields, and its text."""
    if row.call is None:
        return {**scope, **row.fields}
    return {**scope, **row.fields, EVENT: result_messages.event_text(row)}
