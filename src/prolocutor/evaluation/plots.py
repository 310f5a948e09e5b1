"""Plots: small SVG drawings made of text alone; everything that is not ours is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, isfinite, log10
from typing import Final

from prolocutor.parlai.metrics.estimates import Estimate

_LABEL: Final = 170
_WIDTH: Final = 640
_LINE: Final = 22
_BARS: Final = 20
_HEIGHT: Final = 130
_LONGEST: Final = 24


def interval_plot(estimates: Mapping[str, Estimate], title: str) -> str:
    """Draw each figure, 0 to 1, as a dot with its interval."""
    shown = {name: one for name, one in estimates.items() if 0 <= one.value <= 1}
    if not shown:
        return ""
    width, room = _WIDTH - _LABEL - 70, 26
    height = room + _LINE * len(shown) + 8
    parts = [_axis(at, _LABEL + at * width, room, height - 8) for at in (0, 0.25, 0.5, 0.75, 1)]
    for place, (name, one) in enumerate(shown.items()):
        y = room + _LINE * place + _LINE // 2
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
    """Draw how many values lie where, in about 20 bars of equal width, from one end to another."""
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
    for place, count in enumerate(counts):
        x, tall = 40 + place * width, (_HEIGHT - 40) * count / most
        first, last = low + place * step, low + (place + 1) * step
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
    """Draw counts by name as bars that lie."""
    if not counts:
        return ""
    most, width = max(counts.values()) or 1, _WIDTH - _LABEL - 70
    parts = []
    for place, (name, count) in enumerate(counts.items()):
        y = 8 + _LINE * place
        parts.append(_text(_LABEL - 8, y + 15, name or "-", "name"))
        parts.append(
            f'<rect class="bar" x="{_LABEL}" y="{y + 3}" width="{width * count / most:.1f}" '
            f'height="{_LINE - 6}"/>'
        )
        parts.append(_text(_LABEL + width * count / most + 6, y + 15, f"{count:,}", "tick start"))
    return _drawing(title, 12 + _LINE * len(counts), parts)


def _scale(least: float, most: float) -> tuple[float, float, float]:
    """Return ends and width of bars so that they are round numbers."""
    if most <= least:
        return (0.0, 1.0, 1 / _BARS) if 0 <= least <= 1 else (least - 0.5, least + 0.5, 1.0)
    raw = (most - least) / _BARS
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= raw * 0.999999)
    return floor(least / step) * step, ceil(most / step + 1e-9) * step, step


def _axis(at: float, x: float, top: float, bottom: float) -> str:
    line = f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'
    return line + _text(x, 16, f"{at:g}", "tick middle")


def _text(x: float, y: float, text: str, kind: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(short)}</text>'


def _drawing(title: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )
