"""Formatters: they cut a service's request out of the dialog, and shape its reply for the stage.

A formatter is a function, its dotted name, or a name of the entry-point group
`prolocutor.formatters`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Formatter, StageService

NAMED: Final = Catalog[Formatter]("formatter", "prolocutor.formatters")

_SAID: Final = (
    "hypotheses",
    "counts",
    "skills",
    "fan_out",
    "is_own",
    "may_skip",
    "widens",
    "annotates",
)


class Widening(msgspec.Struct, frozen=True):
    """How a formatter's window widens: its `usual` size will do unless a text there has the `mark`.

    A formatter says so by an attribute, `formatter.widens = Widening(11, "#repeat")`.
    """

    usual: int
    mark: str


def resolve_formatter(
    formatter: Formatter | str | None, mode: str, resolve: Callable[[str], Formatter]
) -> Formatter | None:
    """Find a formatter: a name, `module:function`, or a function.

    A function with a `mode` parameter does both directions and is called with `mode="in"` for
    requests and `mode="out"` for replies.
    """
    if formatter is None:
        return None
    function = _find(formatter, resolve) if isinstance(formatter, str) else formatter
    return partial(function, mode=mode) if _takes(function, "mode") else function


def request_formatter(
    service: StageService, resolve: Callable[[str], Formatter]
) -> Formatter | None:
    """Find the formatter of a service's requests, with its `formatter_options`."""
    formatter = resolve_formatter(service.formatter, "in", resolve)
    return _bind_options(formatter, service.formatter_options)


def reply_formatter(service: StageService, resolve: Callable[[str], Formatter]) -> Formatter | None:
    """Find the formatter of a service's replies, with its `response_formatter_options`."""
    own, both = service.response_formatter, service.formatter
    return _bind_options(either_formatter(own, both, resolve), service.response_formatter_options)


def either_formatter(
    own: Formatter | str | None,
    both: Formatter | str | None,
    resolve: Callable[[str], Formatter],
) -> Formatter | None:
    """Find the formatter of replies: `own`, or the request formatter `both` if it has a `mode`."""
    if own is not None or both is None:
        return resolve_formatter(own, "out", resolve)
    function = _find(both, resolve) if isinstance(both, str) else both
    return resolve_formatter(function, "out", resolve) if _takes(function, "mode") else None


def takes_turn(formatter: Formatter | None) -> bool:
    """Return whether a response formatter is shown the turn as well: it has a parameter `turn`."""
    return formatter is not None and _takes(formatter, "turn")


def _bind_options(formatter: Formatter | None, options: JsonObject | None) -> Formatter | None:
    """Return a formatter with further arguments; its attributes of `_SAID` are kept."""
    if formatter is None or not options:
        return formatter
    given = partial(formatter, **options)
    for name in _SAID:
        if (said := getattr(formatter, name, None)) is not None:
            setattr(given, name, said)
    return given


def wants_hypotheses(formatter: Formatter | None) -> bool:
    """Return whether a formatter asks for the hypotheses of earlier utterances.

    It does so by an attribute: `formatter.hypotheses = True`.
    """
    return bool(getattr(formatter, "hypotheses", False))


def is_own(formatter: Formatter | None) -> bool:
    """Return whether a formatter is ours: it changes no state and makes JSON of JSON.

    It declares this by an attribute, `formatter.is_own = True`, and gets the state without a copy.
    """
    return bool(getattr(formatter, "is_own", False))


def _find(name: str, resolve: Callable[[str], Formatter]) -> Formatter:
    if name in NAMED:
        return NAMED.load(name)
    if ":" not in name:
        known = ", ".join(NAMED.names())
        what = f"no formatter is called '{name}'; write module:function"
        raise ConfigError(f"{what}, or one of {known}" if known else what)
    return resolve(name)


def _takes(function: Formatter, parameter: str) -> bool:
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
