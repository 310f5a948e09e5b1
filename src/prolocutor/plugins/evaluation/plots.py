"""Plots as SVG, written as text; names and titles are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, isfinite, log, log10
from typing import Final

from prolocutor.plugins.evaluation.parlai.metrics.estimates import Estimate

_LABEL: Final = 170
_WIDTH: Final = 640
_LINE: Final = 22
_BARS: Final = 20
_HEIGHT: Final = 130
_LONGEST: Final = 24

# Of line plots: the height of the drawing and its margins, which hold axes and names.
_TALL: Final = 320
_LEFT: Final = 50
_RIGHT: Final = 190
_TOP: Final = 14
_BOTTOM: Final = 40
_COLORS: Final = 6
_ROOM: Final = 40

Points = Sequence[tuple[float, float]]


def interval_plot(estimates: Mapping[str, Estimate], title: str) -> str:
    """Draw each figure, 0 to 1, as a dot with its interval."""
    shown = {name: one for name, one in estimates.items() if 0 <= one.value <= 1}
    if not shown:
        return ""
    width, room = _WIDTH - _LABEL - 70, 26
    height = room + _LINE * len(shown) + 8
    parts = [_axis(at, _LABEL + at * width, room, height - 8) for at in (0, 0.25, 0.5, 0.75, 1)]
    for position, (name, one) in enumerate(shown.items()):
        y = room + _LINE * position + _LINE // 2
        x = _LABEL + one.value * width
        parts.append(_text(_LABEL - 8, y + 4, name, "name"))
        if one.low is not None and one.high is not None:
            low, high = (_LABEL + min(1, max(0, end)) * width for end in (one.low, one.high))
            parts.append(
                f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
            )
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y}" r="4"/>')
        parts.append(_text(_WIDTH - 62, y + 4, f"{one.value:.4f}", "value"))
    return _drawing(title, height, parts)


def histogram(
    values: Sequence[float], title: str, unit: str = "", *, ends: tuple[float, float] | None = None
) -> str:
    """Draw how many values lie where, in about 20 bars of equal width between `ends`."""
    seen = [value for value in values if isfinite(value)]
    if not seen:
        return ""
    if ends is None:
        low, high, step = _scale(min(seen), max(seen))
    else:
        low, high, step = *ends, (ends[1] - ends[0]) / _BARS
    counts = [0] * max(1, round((high - low) / step))
    for value in seen:
        counts[min(len(counts) - 1, int((value - low) / step))] += 1
    most, width = max(counts), (_WIDTH - 60) / len(counts)
    parts = []
    for position, count in enumerate(counts):
        x, tall = 40 + position * width, (_HEIGHT - 40) * count / most
        first, last = low + position * step, low + (position + 1) * step
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{_HEIGHT - 20 - tall:.1f}" '
            f'width="{max(1, width - 2):.1f}" height="{tall:.1f}">'
            f"<title>{first:.4g} to {last:.4g}{escape(unit)}: {count:,}</title></rect>"
        )
    parts.append(_text(40, _HEIGHT - 4, f"{low:.4g}{unit}", "tick start"))
    parts.append(_text(_WIDTH - 20, _HEIGHT - 4, f"{high:.4g}{unit}", "tick"))
    parts.append(_text(34, 28, f"{most:,}", "tick"))
    return _drawing(title, _HEIGHT, parts)


def bar_plot(counts: Mapping[str, int], title: str) -> str:
    """Draw counts by name as horizontal bars."""
    if not counts:
        return ""
    most, width = max(counts.values()) or 1, _WIDTH - _LABEL - 70
    parts = []
    for position, (name, count) in enumerate(counts.items()):
        y = 8 + _LINE * position
        parts.append(_text(_LABEL - 8, y + 15, name or "-", "name"))
        parts.append(
            f'<rect class="bar" x="{_LABEL}" y="{y + 3}" width="{width * count / most:.1f}" '
            f'height="{_LINE - 6}"/>'
        )
        parts.append(_text(_LABEL + width * count / most + 6, y + 15, f"{count:,}", "tick start"))
    return _drawing(title, 12 + _LINE * len(counts), parts)


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
    """Draw lines of (x, y), y from 0 to 1, each with its name beside it; "" without a point."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    low, high = ends or (min(x for x, _ in points), max(x for x, _ in points))
    at = _Axis(low, high, logarithmic)
    parts = [_level(level / 4) for level in range(5)]
    marks = sorted({low, high, *(x for x, _ in points)})
    parts += [
        _text(at(x), _TALL - _BOTTOM + 16, f"{x:,.4g}", "tick middle") for x in _apart(marks, at)
    ]
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _TALL - 6, across, "tick middle"))
    if diagonal:
        parts.append(_path([(at(low), _up(low)), (at(high), _up(high))], "grid"))
    for number, (name, line) in enumerate(lines.items()):
        color = f"line c{number % _COLORS}"
        if joined:
            parts.append(_path([(at(x), _up(y)) for x, y in line], color))
        for x, y in line:
            label = f"<title>{escape(f'{name}: {x:.4g}, {y:.3f}')}</title>"
            parts.append(_point(at(x), _up(y), color, label))
        beside = _TOP + 14 + 18 * number
        parts.append(_point(_WIDTH - _RIGHT + 14, beside - 4, color))
        parts.append(_text(_WIDTH - _RIGHT + 24, beside, name, "start"))
    return _drawing(title, max(_TALL, _TOP + 20 + 18 * len(lines)), parts)


def _scale(least: float, most: float) -> tuple[float, float, float]:
    """Return low end, high end and width of a bar as round numbers."""
    if most <= least:
        return (0.0, 1.0, 1 / _BARS) if 0 <= least <= 1 else (least - 0.5, least + 0.5, 1.0)
    raw = (most - least) / _BARS
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= raw * 0.999999)
    return floor(least / step) * step, ceil(most / step + 1e-9) * step, step


def _axis(at: float, x: float, top: float, bottom: float) -> str:
    line = f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'
    return line + _text(x, 16, f"{at:g}", "tick middle")


class _Axis:
    """The horizontal axis of a line plot: from a value to its place."""

    def __init__(self, low: float, high: float, logarithmic: bool) -> None:
        self._logarithmic = logarithmic and low > 0
        self._low = self._of(low)
        self._span = (self._of(high) - self._low) or 1.0

    def __call__(self, x: float) -> float:
        return _LEFT + (self._of(x) - self._low) / self._span * (_WIDTH - _LEFT - _RIGHT)

    def _of(self, x: float) -> float:
        return log(x) if self._logarithmic else x


def _apart(marks: Sequence[float], at: _Axis) -> list[float]:
    """Return the marks that leave room for the number of the one before."""
    found: list[float] = []
    for x in marks:
        if not found or at(x) - at(found[-1]) >= _ROOM:
            found.append(x)
    return found


def _up(y: float) -> float:
    return _TALL - _BOTTOM - min(1.0, max(0.0, y)) * (_TALL - _TOP - _BOTTOM)


def _level(level: float) -> str:
    y = _up(level)
    line = f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + _text(_LEFT - 6, y + 4, f"{level:.0%}", "tick")


def _path(points: Points, kind: str) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{joined}"/>'


def _point(x: float, y: float, kind: str, inside: str = "") -> str:
    return f'<circle class="{kind} point" cx="{x:.1f}" cy="{y:.1f}" r="4">{inside}</circle>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(short)}</text>'


def _drawing(title: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )
