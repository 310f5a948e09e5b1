"""A service that is asked about all hypotheses at once and answers by a bare list."""

from __future__ import annotations

from typing import Any, Protocol


class Post(Protocol):
    """Posts JSON to a URL and returns the whole JSON answer."""

    async def __call__(self, url: str, body: Any) -> Any:
        """Raise a ServiceError where there is no answer."""


class BatchCall:
    """Posts the task, and gives the whole answer as the rows of a batch."""

    def __init__(self, url: str, post: Post) -> None:
        self._url = url
        self._post = post

    async def __call__(self, task: Any) -> Any:
        """Return `{"batch": answer}`."""
        return {"batch": await self._post(self._url, task)}
