"""General knowledge that services share between dialogs for a while: news, rates, forecasts.

Nothing of a dialog belongs here: services are stateless as to dialogs, and what they want to keep
of a user goes out in `human_attributes`.

    from prolocutor import knowledge

    def headlines(topic):
        news = knowledge.get("news", topic)
        if news is None:
            news = fetch(topic)
            knowledge.put("news", topic, news, seconds=600)
        return news
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Final

MAX_ENTRIES: Final = 10_000
"""Most entries of one service; beyond that the one that was put first is dropped."""

_entries: dict[str, OrderedDict[Hashable, tuple[float, Any]]] = {}
_lock = threading.Lock()


def get(service: str, key: Hashable, default: Any = None) -> Any:
    """Return the value that this service put under `key`, `default` for a missing or expired value.

    It is the very object that was put, which others see too, so do not change it.
    """
    entries = _entries.get(service)
    entry = entries.get(key) if entries else None
    if entry is None or entry[0] <= time.monotonic():
        return default
    return entry[1]


def put(service: str, key: Hashable, value: Any, *, seconds: float) -> None:
    """Store `value` under `key` for so many seconds, in place of an earlier value."""
    now = time.monotonic()
    with _lock:
        entries = _entries.setdefault(service, OrderedDict())
        entries.pop(key, None)
        entries[key] = (now + seconds, value)
        while len(entries) > MAX_ENTRIES or next(iter(entries.values()))[0] <= now:
            entries.popitem(last=False)
            if not entries:
                break


def forget(service: str) -> None:
    """Remove all entries of this service."""
    with _lock:
        _entries.pop(service, None)
