"""Drawings of what was measured: small SVG made of text alone, all of it escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log
from typing import Final

Points = Sequence[tuple[float, float]]

_WIDTH: Final = 640
_HEIGHT: Final = 320
_LEFT: Final = 50
_RIGHT: Final = 190
_TOP: Final = 14
_BOTTOM: Final = 40
_COLORS: Final = 6
_LONGEST: Final = 28
_ROOM: Final = 40


def line_plot(
    lines: Mapping[str, Points],
    title: str,
    across: str,
    *,
    ends: tuple[float, float] | None = None,
    diagonal: bool = False,
    logarithmic: bool = False,
    joined: bool = True,
) -> str:
    """Draw lines of (x, y), y from 0 to 1, each named beside it; "" if there is no point."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    low, high = ends or (min(x for x, _ in points), max(x for x, _ in points))
    at = _Axis(low, high, logarithmic)
    parts = [_grid(level / 4) for level in range(5)]
    marks = {x for x, _ in points}
    parts += [
        _text(at(x), _HEIGHT - _BOTTOM + 16, f"{x:,.4g}", "tick middle")
        for x in _apart(sorted({low, high, *marks}), at)
    ]
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, across, "tick middle"))
    if diagonal:
        parts.append(_path([(at(low), _up(low)), (at(high), _up(high))], "grid"))
    for number, (name, line) in enumerate(lines.items()):
        color = f"line c{number % _COLORS}"
        placed = [(at(x), _up(y)) for x, y in line]
        if joined:
            parts.append(_path(placed, color))
        for (x, y), (real_x, real_y) in zip(placed, line, strict=True):
            told = escape(f"{name}: {real_x:.4g}, {real_y:.3f}")
            parts.append(
                f'<circle class="{color} point" cx="{x:.1f}" cy="{y:.1f}" r="4">'
                f"<title>{told}</title></circle>"
            )
        y = _TOP + 14 + 18 * number
        parts.append(
            f'<circle class="{color} point" cx="{_WIDTH - _RIGHT + 14}" cy="{y - 4}" r="4"/>'
        )
        parts.append(_text(_WIDTH - _RIGHT + 24, y, name, "start"))
    height = max(_HEIGHT, _TOP + 20 + 18 * len(lines))
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )


def matrix(
    cells: Mapping[tuple[str, str], float], names: Sequence[str], title: str, told: str
) -> str:
    """Draw a table of shares 0 to 1, the darker the more; `told` says what rows and columns are."""
    head = "".join(f'<th class="turned"><span>{escape(name)}</span></th>' for name in names)
    lines = []
    for row in names:
        found = [cells.get((row, column)) for column in names]
        shown = "".join(
            "<td></td>"
            if share is None
            else f'<td class="share s{round(10 * min(1.0, max(0.0, share)))}">{share:.0%}</td>'
            for share in found
        )
        lines.append(f"<tr><th>{escape(row)}</th>{shown}</tr>")
    return (
        f'<h2>{escape(title)}</h2><p class="dim">{escape(told)}</p><div class="wide">'
        f'<table class="matrix"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


class _Axis:
    def __init__(self, low: float, high: float, logarithmic: bool) -> None:
        self._logarithmic = logarithmic and low > 0
        self._low = self._of(low)
        self._span = (self._of(high) - self._low) or 1.0

    def __call__(self, x: float) -> float:
        return _LEFT + (self._of(x) - self._low) / self._span * (_WIDTH - _LEFT - _RIGHT)

    def _of(self, x: float) -> float:
        return log(x) if self._logarithmic else x


def _apart(marks: Sequence[float], at: _Axis) -> list[float]:
    """Return marks that have room for their numbers."""
    found: list[float] = []
    for x in marks:
        if not found or at(x) - at(found[-1]) >= _ROOM:
            found.append(x)
    return found


def _up(y: float) -> float:
    return _HEIGHT - _BOTTOM - min(1.0, max(0.0, y)) * (_HEIGHT - _TOP - _BOTTOM)


def _grid(level: float) -> str:
    y = _up(level)
    line = f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + _text(_LEFT - 6, y + 4, f"{level:.0%}", "tick")


def _path(points: Points, kind: str) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{joined}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(short)}</text>'
