"""Learns how much each feature of a text speaks for each class, and keeps what was learned.

Learning some thousand phrasings takes seconds. The weights are kept in the person's folder for what
can be made anew, and may be shipped beside the phrasings.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Final

import msgspec

Weights = dict[str, dict[int, int]]
"""How much each feature speaks for each class, by its number, in hundredths."""

EPOCHS: Final = 4
MOST_RATE: Final = 0.5
"""The largest step by which weights change for one text."""

LEAST_WEIGHT: Final = 2
"""The smallest weight that is kept, in hundredths."""

SUFFIX: Final = ".weights"


class _Kept(msgspec.Struct, array_like=True):
    """Weights with the name of what they were learned from."""

    name: str
    weights: Weights


def learn_weights(rows: Sequence[tuple[list[str], int]], classes: int) -> Weights:
    """Return the weights of a perceptron with a margin, averaged over its steps.

    A row has the features of a text and its class, from 0 to before `classes`. After K. Crammer et
    al., "Online Passive-Aggressive Algorithms" (2006).
    """
    weights: dict[str, dict[int, float]] = {}
    sums: dict[str, dict[int, float]] = {}
    order, shuffled, step = list(rows), Random(0), 0
    for _ in range(EPOCHS):
        shuffled.shuffle(order)
        for features, right in order:
            step += 1
            scores = _scores(weights, features)
            of_right = scores.pop(right, 0.0)
            wrong = max(scores, key=scores.__getitem__) if scores else (right + 1) % classes
            missing = 1.0 - of_right + scores.get(wrong, 0.0)
            if missing <= 0 or wrong == right:
                continue
            rate = min(MOST_RATE, missing / (2 * len(features)))
            for feature in features:
                now, so_far = weights.setdefault(feature, {}), sums.setdefault(feature, {})
                for number, change in ((right, rate), (wrong, -rate)):
                    now[number] = now.get(number, 0.0) + change
                    so_far[number] = so_far.get(number, 0.0) + step * change
    averages: Weights = {}
    for feature, now in weights.items():
        for number, weight in now.items():
            average = round(100 * (weight - sums[feature][number] / (step + 1)))
            if abs(average) >= LEAST_WEIGHT:
                averages.setdefault(feature, {})[number] = average
    return averages


def _scores(weights: dict[str, dict[int, float]], features: Sequence[str]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for feature in features:
        if found := weights.get(feature):
            for number, weight in found.items():
                scores[number] = scores.get(number, 0.0) + weight
    return scores


def kept_weights(name: str, shipped: Path | None, learn: Callable[[], Weights]) -> Weights:
    """Return the weights of a name: those that are `shipped` or kept, else those that are learned.

    Where a folder cannot be written, nothing is kept.
    """
    folder = _folder()
    kept = None if folder is None else folder / f"{name}{SUFFIX}"
    for path in (shipped, kept):
        if path is not None and (found := _read(path)) is not None and found.name == name:
            return found.weights
    weights = learn()
    if kept is not None:
        with contextlib.suppress(OSError):
            write_weights(kept, name, weights)
    return weights


def write_weights(path: Path, name: str, weights: Weights) -> None:
    """Write weights to a file at once, so that nobody reads a part; raise `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = zlib.compress(msgspec.msgpack.encode(_Kept(name, weights)), 9)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)


def _read(path: Path) -> _Kept | None:
    with contextlib.suppress(OSError, zlib.error, msgspec.MsgspecError):
        return msgspec.msgpack.decode(zlib.decompress(path.read_bytes()), type=_Kept)
    return None


def _folder() -> Path | None:
    """Return the folder of what is kept; None for a user without a home, as in some containers."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    with contextlib.suppress(RuntimeError):
        return Path(cache).expanduser() / "prolocutor" / "phrasings"
    return None
