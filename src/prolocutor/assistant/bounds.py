"""What an assistant's settings may be, whoever gives them."""

from __future__ import annotations

from math import isfinite

from prolocutor.errors import ConfigError


def check_number(
    key: str, value: object, *, least: float = 0, above: bool = False, below: float | None = None
) -> None:
    """Refuse what is no number of at least `least` (or `above` it), and less than `below`."""
    holds = (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and isfinite(value)
        and (value > least if above else value >= least)
        and (below is None or value < below)
    )
    if not holds:
        more = f"more than {least:g}" if above else f"{least:g} or more"
        less = "" if below is None else f" and less than {below:g}"
        raise ConfigError(f"expected {more}{less}, found {value!r}", key=key)


def check_text(key: str, value: object) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise ConfigError(f"expected a text, found {value!r}", key=key)
