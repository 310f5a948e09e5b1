"""Lanes: gather waiting requests for a line into a single call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from prolocutor.background import BackgroundTasks
from prolocutor.errors import DeclaredDead, StoreAway, StoreError
from prolocutor.plugins.postgresql.database_line import DatabaseLine, Row

Item = TypeVar("Item")
T = TypeVar("T")
Item_contra = TypeVar("Item_contra", contravariant=True)

RETRY_TIMEOUT: Final = 1.0
"""Seconds that a call whose answer was lost waits for the line, to be sent again."""


DOWN_TIMEOUT: Final = 0.2
"""Seconds that a call waits for a line that is down, before it fails."""


class GroupCall(Protocol[Item_contra]):
    """Sends a group of items as a single call."""

    async def __call__(self, items: Sequence[Item_contra], repeated: bool, /) -> list[Any]:
        """Return an outcome for each item, an exception for a refused item.

        Raise the error of the whole call: nothing of the group is stored then; after `StoreAway` it
        is unknown. `repeated`: the answer to the same call was lost.
        """


class Lane(Generic[Item]):
    """Sends the items submitted during the last call, up to `at_most`, as the next call.

    It does not wait for more items: under load groups form while a call is under way. The items of
    a failed group are tried singly, so a bad item does not fail the others.
    """

    def __init__(self, line: DatabaseLine, call: GroupCall[Item], *, at_most: int = 256) -> None:
        self._line = line
        self._call = call
        self._at_most = at_most
        self._waiting: list[tuple[asyncio.Future[Any], Item]] = []
        self._worker = BackgroundTasks("lane")
        self.calls = 0
        """Groups sent so far."""
        self.trips = 0
        """Items sent so far."""

    def submit(self, item: Item) -> asyncio.Future[Any]:
        """Send an item with the next group; the future gets its outcome."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, item))
        if not self._worker:
            self._worker.start(self._work())
        return future

    async def wait_until_empty(self) -> None:
        """Wait until all submitted items have their outcomes."""
        await self._worker.wait_until_ended()

    async def _work(self) -> None:
        while self._waiting:
            group = self._waiting[: self._at_most]
            del self._waiting[: self._at_most]
            self.calls += 1
            self.trips += len(group)
            outcomes = await self._outcomes([item for _, item in group])
            for (future, _), outcome in zip(group, outcomes, strict=True):
                if future.done():
                    continue
                if isinstance(outcome, BaseException):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)

    async def _outcomes(self, items: list[Item]) -> list[Any]:
        up = self._line.is_up or await self._line.back(DOWN_TIMEOUT)
        try:
            return await self._call(items, False)
        except StoreAway as error:
            if not up or not await self._line.back(RETRY_TIMEOUT):
                return [error] * len(items)
            return await self._send_again(items)
        except DeclaredDead as error:
            return [error] * len(items)
        except Exception as error:
            if len(items) == 1:
                return [error]
        return [await self._alone(item, False) for item in items]

    async def _send_again(self, items: list[Item]) -> list[Any]:
        try:
            return await self._call(items, True)
        except (StoreAway, DeclaredDead) as error:
            return [error] * len(items)
        except Exception:
            return [await self._alone(item, True) for item in items]

    async def _alone(self, item: Item, repeated: bool) -> Any:
        try:
            return (await self._call([item], repeated))[0]
        except Exception as error:
            return error


class LineJob(Generic[T]):
    """A job with a line for itself; `repeatable` if running it twice does no harm."""

    __slots__ = ("repeatable", "work")

    def __init__(self, work: Callable[[], Awaitable[T]], *, repeatable: bool = True) -> None:
        self.work = work
        self.repeatable = repeatable


class JobLane:
    """The owner of a line, which runs all jobs on it in sequence."""

    def __init__(self, line: DatabaseLine) -> None:
        self._line = line
        self._lane: Lane[LineJob[Any]] = Lane(line, self._do, at_most=1)

    async def fetch(
        self, statement: str, *values: Any, within: float, repeatable: bool = True
    ) -> list[Row]:
        """Run a statement to its end, even if the caller is cancelled."""
        work = partial(self._line.fetch, statement, *values, within=within)
        rows: list[Row] = await self._lane.submit(LineJob(work, repeatable=repeatable))
        return rows

    @property
    def since(self) -> float:
        """The time of the first connection to the server, by the monotonic clock."""
        return self._line.since

    async def wait_until_empty(self) -> None:
        """Wait until all jobs are done."""
        await self._lane.wait_until_empty()

    async def _do(self, items: Sequence[LineJob[Any]], repeated: bool) -> list[Any]:
        (job,) = items
        if repeated and not job.repeatable:
            return [StoreAway("the connection was lost; it is not known whether it was stored")]
        try:
            return [await job.work()]
        except StoreError:
            raise
        except Exception as error:
            return [error]
