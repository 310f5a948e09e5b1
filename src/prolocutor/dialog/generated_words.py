"""Skills as generator functions: the words they yield, and the reply made of the words."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import aclosing, closing, suppress
from typing import Any, Final

from prolocutor.dialog.dialog import Hypothesis
from prolocutor.dialog.plain import MAX_BYTES
from prolocutor.dialog.turn_request import Say, takes_requests, taking_dicts
from prolocutor.errors import BadReply

DEFAULT_CONFIDENCE: Final = 0.5
"""The confidence of a reply of which nothing but the words is known."""


class GeneratedReply:
    """The items yielded by a generator so far: words, and at most one reply.

    Texts are words. Any other item is the reply, which may come first to announce the confidence of
    its words. A single hypothesis without text or messages gets the words as text; without a reply
    they are a hypothesis of `DEFAULT_CONFIDENCE`.
    """

    def __init__(self, say: Callable[..., None] | None) -> None:
        self._say = say
        self._pieces: list[str] = []
        self._left = MAX_BYTES
        self._reply: Any = None
        self._has_reply = False

    def take(self, item: Any) -> None:
        """Take a yielded item; raise `BadReply` for a second reply, and for too many words."""
        if isinstance(item, str):
            self._left -= len(item) + 1  # so that empty ones end too
            if self._left < 0:
                raise BadReply(f"more than the {MAX_BYTES:,} bytes allowed")
            self._pieces.append(item)
            if self._say is not None:
                self._say(item, _confidence(self._reply))
        elif self._has_reply:
            raise BadReply("yields a second reply; a skill yields texts and one reply")
        else:
            self._reply, self._has_reply = item, True

    def whole(self) -> Any:
        """Return the reply."""
        text = "".join(self._pieces)
        if self._has_reply:
            return add_words(self._reply, text)
        return {"text": text, "confidence": DEFAULT_CONFIDENCE} if text else []


def add_words(reply: Any, text: str) -> Any:
    """Return a reply; a single hypothesis without text or messages gets these words as its text."""
    one = reply[0] if isinstance(reply, list | tuple) and len(reply) == 1 else reply
    if isinstance(one, Hypothesis):
        one = one.json_members()
    if not text or not isinstance(one, dict) or one.get("text") or one.get("messages"):
        return reply
    return {**one, "text": text}


def generates(target: Callable[..., Any]) -> bool:
    """Return whether a function yields its reply."""
    return _is_generator(target) or _is_async_generator(target)


def collect_reply(target: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function to run a generator function to its end and return the reply.

    `say` takes each word, and the confidence, None while it is unknown.
    """
    start, typed = taking_dicts(target), takes_requests(target)

    def generator(request: Any, say: Say | None) -> Any:
        return start(request, say) if typed else start(request)

    async def run(request: Any, say: Say | None = None) -> Any:
        reply = GeneratedReply(say)
        async with aclosing(generator(request, say)) as items:
            async for item in items:
                reply.take(item)
        return reply.whole()

    def run_plainly(request: Any, say: Say | None = None) -> Any:
        reply = GeneratedReply(say)
        with closing(generator(request, say)) as items:
            for item in items:
                reply.take(item)
        return reply.whole()

    return run if _is_async_generator(target) else run_plainly


def say_in_loop(say: Callable[..., None]) -> Callable[..., None]:
    """Return the same function for use in threads: it runs in this event loop while the loop
    lives.
    """
    loop = asyncio.get_running_loop()

    def say_later(*words: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(say, *words)

    return say_later


def _confidence(reply: Any) -> float | None:
    """Return the confidence of a single hypothesis; None if missing."""
    if isinstance(reply, list | tuple) and len(reply) == 1:
        (reply,) = reply
    if isinstance(reply, Hypothesis):
        reply = {"confidence": reply.confidence}
    found = reply.get("confidence") if isinstance(reply, dict) else None
    return float(found) if isinstance(found, int | float) else None


def _is_generator(target: Callable[..., Any]) -> bool:
    return any(map(inspect.isgeneratorfunction, (target, _call_method(target))))


def _is_async_generator(target: Callable[..., Any]) -> bool:
    return any(map(inspect.isasyncgenfunction, (target, _call_method(target))))


def _call_method(target: Callable[..., Any]) -> Any:
    return getattr(target, "__call__", None)  # noqa: B004 - an object may have such a __call__
