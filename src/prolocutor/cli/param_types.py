"""Times as a person types them: a day, a moment, or how long ago."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Any, Final

import click

from prolocutor.dialog.ids import format_time, parse_time

SECONDS: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}

_SPAN: Final = re.compile(r"(\d{1,6})([mhdw])")


class TimeParam(click.ParamType[str]):
    """A moment: `2026-11-20`, `2026-11-20 18:30` (local time), or how long ago: 12h, 30d, 2w.

    Read as a time of the agent state, in UTC.
    """

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read one."""
        try:
            return _ago(value) or format_time(datetime.fromisoformat(value).timestamp())
        except (ValueError, OverflowError, OSError):
            what = f"{value!r} is no time; write 2026-11-20, 2026-11-20 18:30, or 30d for days ago"
            raise click.BadParameter(what, ctx, param) from None


class AgeParam(click.ParamType[str]):
    """How old something is: 12h, 30d, 2w. Read as the moment that long ago, in UTC."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read one."""
        if moment := _ago(value):
            return moment
        raise click.BadParameter(f"{value!r} is no age; write 12h, 30d or 2w", ctx, param)


def _ago(text: str) -> str | None:
    span = _SPAN.fullmatch(text)
    return span and format_time(max(0.0, time.time() - int(span[1]) * SECONDS[span[2]]))


def local(moment: str | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """Write a time of the agent state for a person here; nothing for none."""
    if not moment:
        return ""
    return datetime.fromtimestamp(parse_time(moment)).astimezone().strftime(form)
