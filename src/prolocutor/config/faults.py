"""Faults of a file: a `Fault` for each place, collected and raised together."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from prolocutor.errors import ConfigError, printable


class Fault(msgspec.Struct, frozen=True):
    """One fault: file, line and column (from 1), key, description and suggestion.

    `key` is dotted: `skills.weather.after`, `skill_selector[0].call`.
    """

    file: str
    line: int | None
    key: str | None
    what: str
    suggestion: str | None = None
    column: int | None = None

    def __str__(self) -> str:
        return str(self.error())

    def error(self) -> ConfigError:
        """Return the fault as an exception of one line, including the suggestion."""
        what = f"{self.what}; {self.suggestion}" if self.suggestion else self.what
        key = self.key and printable(self.key)
        return ConfigError(printable(what), file=printable(self.file), line=self.line, key=key)


class ConfigFaults(ConfigError):
    """All faults of one file, in the order of its lines.

    Its own `what`, `file`, `line` and `key` are the first fault's; `str()` gives a line for each
    fault.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = in_order(faults)
        first = self.faults[0]
        super().__init__(first.what, file=first.file, line=first.line, key=first.key)

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


def in_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return each fault once, sorted by line; faults without a line come first."""
    return tuple(
        sorted(dict.fromkeys(faults), key=lambda fault: (fault.line or 0, fault.column or 0))
    )
