"""The channels by name: each is imported when it is first asked for.

A package of somebody else's adds its own through an entry point in the group
`prolocutor.channels`: name -> a class made as `Class(assistant, **options)`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.errors import ConfigError, MissingExtra

GROUP: Final = "prolocutor.channels"

OURS: Final = {
    "almond": "prolocutor.almond.door.door:Almond",
    "deeppavlov": "prolocutor.deeppavlov.door.api:DeepPavlov",
    "page": "prolocutor.channels.page.channel:Page",
    "parlai": "prolocutor.channels.parlai:Parlai",
}


def names() -> list[str]:
    """Return the names of all channels, ours and the installed ones."""
    return sorted(OURS.keys() | {point.name for point in entry_points(group=GROUP)})


def make_channel(name: str, assistant: Assistant, **options: Any) -> Channel:
    """Make the channel of this name for an assistant; `ConfigError` where that cannot be."""
    make = channel_class(name)
    try:
        inspect.signature(make).bind(assistant, **options)
    except TypeError as error:
        raise ConfigError(f"the door {name!r} cannot be made: {error}", key="doors") from None
    channel: Channel = make(assistant, **options)
    return channel


def channel_class(name: str) -> Callable[..., Any]:
    """Return the class of the channel of this name; `ConfigError` for an unknown one."""
    if name in OURS:
        return _load(EntryPoint(name, OURS[name], GROUP))
    for point in entry_points(group=GROUP, name=name):
        return _load(point)
    close = get_close_matches(name, names(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names())}"
    raise ConfigError(f"there is no door {name!r}; {hint}", key="doors")


def _load(point: EntryPoint) -> Callable[..., Any]:
    try:
        found = getattr(importlib.import_module(point.module), point.attr)
    except ModuleNotFoundError as error:
        raise MissingExtra(f"the door {point.name!r} needs {error.name!r}", key="doors") from None
    except (ImportError, AttributeError) as error:
        what = f"the door {point.name!r} cannot be loaded: {error}"
        raise ConfigError(what, key="doors") from error
    return found  # type: ignore[no-any-return]
