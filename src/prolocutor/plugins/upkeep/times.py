"""Times on the command line: as people type them, and as they are shown."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Any, Final

import click

from prolocutor.clocks import DAY, HOUR, MINUTE, WEEK
from prolocutor.dialog.ids import format_time, parse_time

_SECONDS: Final = {"m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}
_SPAN: Final = re.compile(r"(\d{1,6})([mhdw])")


class TimeParam(click.ParamType[str]):
    """A time: `2026-11-20`, `2026-11-20 18:30` (local time), or an age: 12h, 30d, 2w.

    Converted to a time of the agent state, in UTC.
    """

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read one."""
        try:
            return _ago(value) or format_time(datetime.fromisoformat(value).timestamp())
        except (ValueError, OverflowError, OSError):
            what = (
                f"{value!r} is not a time; write 2026-11-20, 2026-11-20 18:30, or 30d for days ago"
            )
            raise click.BadParameter(what, ctx, param) from None


class AgeParam(click.ParamType[str]):
    """An age: 12h, 30d, 2w. Converted to the time that long ago, in UTC."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read one."""
        if moment := _ago(value):
            return moment
        raise click.BadParameter(f"{value!r} is not an age; write 12h, 30d or 2w", ctx, param)


def local(moment: str | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a time of the agent state as local time; "" for None."""
    if not moment:
        return ""
    return datetime.fromtimestamp(parse_time(moment)).astimezone().strftime(form)


def _ago(text: str) -> str | None:
    span = _SPAN.fullmatch(text)
    return span and format_time(max(0.0, time.time() - int(span[1]) * _SECONDS[span[2]]))
