"""PythonConnector: a service as a Python function in this process.

Async functions are awaited where they are. Plain functions run in daemon threads of the service, so
a hanging function delays neither other services nor the end of the interpreter. Generator
functions, async or plain, yield the words of their reply.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, ClassVar, Final

from msgspec import structs

from prolocutor.bounds import about
from prolocutor.connectors.parts.worker_threads import WorkerThreads, make_failure
from prolocutor.contracts.connector import (
    AgentOptions,
    Connector,
    ImmediateAnswer,
    Replies,
    Request,
    ServiceContext,
)
from prolocutor.contracts.selection import Selection
from prolocutor.dialog.generated_words import collect_reply, generates, say_in_loop
from prolocutor.dialog.plain import Plain, PlainItems, check
from prolocutor.dialog.turn_request import is_state_source, takes_requests, taking_dicts
from prolocutor.errors import BadReply, ConfigError, ServiceError, ServiceRaised
from prolocutor.functions import (
    error_text,
    is_async,
    is_cancelled_from_outside,
    resolve,
    takes_argument,
)
from prolocutor.plan.pipeline import Call

KEY: Final = "idempotency_key"
"""The argument of a function that gets the key of its request."""

log = logging.getLogger(__name__)

MAX_ITEMS: Final = 10_000
"""The largest number of items of a list that are checked one by one."""

_USUAL: Final = frozenset({dict, list, str})


class PythonConnector:
    """The way to a function `target(request)`, async or plain.

    `batched`: the target takes a list of requests and returns a list of replies. `inline`: a plain
    function is quick and is called in the event loop. `together`: a reply is a list for a batch,
    with items checked one by one (`PlainItems`). `max_threads`: the largest number of threads of a
    plain function; further calls wait for a free thread, and fail at once when all are held by
    cancelled calls. A target with an argument `idempotency_key` gets the request's key.
    """

    def __init__(
        self,
        target: Callable[..., Any],
        *,
        name: str,
        batched: bool = False,
        inline: bool = False,
        together: bool = False,
        max_threads: int = 64,
    ) -> None:
        self.name = name
        self._speaks = not batched and (generates(target) or takes_requests(target))
        self._target = (
            collect_reply(target) if generates(target) and not batched else taking_dicts(target)
        )
        self._batched = batched
        self._typed = not batched and takes_requests(target)
        self._is_keyed = not batched and takes_argument(target, KEY)
        self._awaited = is_async(target) or is_async(self._target)
        self._is_inline = inline
        self._check = _checked_items if together else _check_result
        self._plainly = self._awaited and not batched
        immediate = inline and not self._awaited and not batched and not self._is_keyed
        answer = self._answer_typed if self._typed else self._answer
        self.answer: ImmediateAnswer | None = answer if immediate else None
        self._threads = WorkerThreads(name, max_threads)

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Call the function and check its result; its exceptions become `ServiceRaised`."""
        target = self._target
        if self._speaks and (deltas := requests[0].deltas) is not None:
            say = deltas.add if self._awaited or self._is_inline else say_in_loop(deltas.add)
            target = functools.partial(target, say=say)
        if self._is_keyed:
            target = functools.partial(target, **{KEY: requests[0].key})
        try:
            if self._plainly:
                return (self._check(await target(self._make_argument(requests[0]))),)
            if self._batched:
                asked: Any = [request.value() for request in requests]
                read: Callable[[Any], Replies] = functools.partial(
                    _many, count=len(asked), check=self._check
                )
            else:
                asked = self._make_argument(requests[0]) if self._is_inline else requests[0].value()
                read = self._one
            if self._awaited:
                return read(await target(asked))
            if self._is_inline:
                return read(target(asked))
            replies = await self._threads.run(target, asked, _later(read))
            return read(await replies) if isinstance(replies, Awaitable) else replies
        except ServiceError:
            raise
        except asyncio.CancelledError as error:
            if is_cancelled_from_outside():
                raise
            failure = make_failure(error, self.name)
        except GeneratorExit as error:
            if not _is_in_a_task():
                raise
            failure = make_failure(error, self.name)
        except BaseException as error:
            failure = make_failure(error, self.name)
        raise failure

    def _answer(self, request: Request) -> Plain | ServiceError:
        try:
            return self._check(self._target(request.value()))
        except ServiceError as error:
            return error
        except BaseException as error:
            return make_failure(error, self.name)

    def _answer_typed(self, request: Request) -> Plain | ServiceError:
        try:
            return self._check(self._target(self._make_argument(request)))
        except ServiceError as error:
            return error
        except BaseException as error:
            return make_failure(error, self.name)

    def _make_argument(self, request: Request) -> Any:
        """Return the request for a function in the event loop.

        A typed function copies the parts it reads.
        """
        return request if self._typed and is_state_source(request) else request.value()

    def _one(self, result: Any) -> Replies:
        return (self._check(result),)

    async def aclose(self) -> None:
        """Let idle threads end; working threads end with their function."""
        self._threads.close()


def _is_in_a_task() -> bool:
    """Return whether a GeneratorExit came from the function, not from closing a coroutine."""
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


def _later(read: Callable[[Any], Replies]) -> Callable[[Any], Any]:
    """Check a result, but return an awaitable as it is: it is awaited in the event loop first."""
    return lambda result: result if isinstance(result, Awaitable) else read(result)


def _many(results: Any, count: int, check: Callable[[Any], Plain]) -> Replies:
    if not isinstance(results, list | tuple):
        _close_unawaited(results)
        raise BadReply(f"a batch needs a list of {count} replies, not a {type(results).__name__}")
    if len(results) != count:
        raise BadReply(f"{len(results)} replies to a batch of {count} requests")
    return [_item(result, check) for result in results]


def _item(result: Any, check: Callable[[Any], Plain]) -> Plain | ServiceError:
    if isinstance(result, ServiceError):
        return result
    if isinstance(result, BaseException):
        return ServiceRaised(error_text(result))
    try:
        return check(result)
    except BadReply as error:
        return error


def _checked_items(result: Any) -> Plain:
    """Check a list; after a failure check each item: a bad item fails alone."""
    try:
        return _check_result(result)
    except BadReply:
        if not isinstance(result, list | tuple) or len(result) > MAX_ITEMS:
            raise
        return PlainItems.collect([_item(item, _check_result) for item in result])


def _check_result(result: Any) -> Plain:
    try:
        if type(result) not in _USUAL and isinstance(result, Selection):
            first = check(result.first)
            selection = structs.replace(result, first=first.value)
            return Plain(selection, first.encoded)
        return check(result)
    except BadReply:
        _close_unawaited(result)
        raise
    except Exception as error:  # the value's own comparison or attributes raised
        log.debug("cannot check a %s", type(result).__name__, exc_info=error)
    raise BadReply(f"a {type(result).__name__} cannot be written as JSON")


def _close_unawaited(result: Any) -> None:
    if inspect.iscoroutine(result):
        result.close()


class PythonFunction(AgentOptions, frozen=True, kw_only=True):
    """A function in this process.

    An object with a method `with_skills` is asked for the function to call, given the skills of the
    pipeline (`AgentProfile`).
    """

    main: ClassVar[str] = "function"
    beside: ClassVar[tuple[str, ...]] = ("inline", "process")

    function: Annotated[
        str | Callable[..., Any],
        about("The function; in a file as module:function.", what="module:function"),
    ]
    inline: Annotated[
        bool, about("Whether a quick plain function is called in the event loop, without a thread.")
    ] = False
    process: Annotated[
        bool, about("Whether it runs in a child process of its own, killed at its time-out.")
    ] = False

    def __post_init__(self) -> None:
        """Refuse contradictory options."""
        if self.inline and self.process:
            raise ConfigError("a service is inline or has a process, not both", key="inline")

    def build(self, context: ServiceContext) -> Connector:
        """Make the connector; a name is imported."""
        if self.process:
            return context.connect(Call(self.function, "process"))
        function = resolve(self.function) if isinstance(self.function, str) else self.function
        if (known := getattr(function, "with_skills", None)) is not None:
            function = known(context.skills)
        return PythonConnector(
            function,
            name=context.name,
            batched=context.batched,
            inline=self.inline,
            together=context.together,
            max_threads=context.max_in_flight,
        )
