"""SelectorOptions: what makes a selector that needs more than a request, such as agents' cards."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec

from prolocutor.contracts.observer import Observer
from prolocutor.contracts.pairing import Card


class SelectorContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a selector is told of the pipeline that it is made for.

    `name` is that of its service. `cards` are those of the skills, `folder` is where the file lies,
    `skill_seconds` when the skills' time ends, from the turn's start. `others` are the options of
    all selectors of the pipeline, its own included. Without `hinted` nothing is learned from what
    people do: the turns are no person's. `share(key, make)` returns what `make` made for the first
    selector that asked with this key. `observe` takes an observer of the turns, `offer` a model
    that can be trained anew.
    """

    name: str
    cards: Sequence[Card]
    folder: Path
    skill_seconds: float
    others: Sequence[Any]
    hinted: bool
    share: Callable[[Hashable, Callable[[], Any]], Any]
    observe: Callable[[Observer], None]
    offer: Callable[[Any], None]


class SelectorOptions(Protocol):
    """The options of a selector that a file names by a key of its own in place of `call`.

    An entry point of the group `prolocutor.selectors` has the key's name, and the options have a
    field of that name. They are a frozen Struct that extends `plan.PendingTarget`. With a field
    `endpoint`, a `connector` and `call` beside the key say how a model is reached. With a method
    `within(timeout)` they are told the time-out that the file gives the service.
    """

    stage: ClassVar[str]
    """The stage at which the key is known: "skill_selector" or "response_selector"."""

    def build(self, context: SelectorContext) -> Any:
        """Return the target of the service: a function or a connector.

        Raise `ConfigError` where that cannot be.
        """
