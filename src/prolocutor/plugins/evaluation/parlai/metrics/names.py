"""The names of metrics, and the metrics requested by a list of names.

ParlAI's names are those of ParlAI 1.7.2, where `default`, `bleu`, `distinct`, `rouge` and `all`
stand for groups. `auc` and `auc-4` ask for the area under the curve of each class, with 3 or 4
decimal places (ParlAI's `-auc 4`). Ours are `mrr`, the scores of published packages
(`score_functions.py`), and functions by dotted name, `package.module:function` or
`package.module.function`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from prolocutor.errors import BadInput
from prolocutor.names import suggest
from prolocutor.plugins.evaluation.parlai.metrics.area_under_curve import DIGITS
from prolocutor.plugins.evaluation.parlai.metrics.rouge import ROUGES
from prolocutor.plugins.evaluation.parlai.metrics.score_functions import (
    PUBLISHED,
    ScoreFunction,
    load_published,
    load_score_function,
    short_name,
)

DEFAULT_METRICS: Final = frozenset(("bleu-4", "accuracy", "f1"))
BLEU_METRICS: Final = frozenset(("bleu-1", "bleu-2", "bleu-3", "bleu-4"))
DISTINCT_METRICS: Final = frozenset(
    ("interdistinct-1", "interdistinct-2", "intradistinct-1", "intradistinct-2")
)
ROUGE_METRICS: Final = frozenset(("rouge-1", "rouge-2", "rouge-L"))
ALL_METRICS: Final = DEFAULT_METRICS | BLEU_METRICS | DISTINCT_METRICS | ROUGE_METRICS
"""Names closed to an agent's own metrics, which become `USER_<name>`."""

GROUPS: Final = {
    "default": DEFAULT_METRICS,
    "bleu": BLEU_METRICS,
    "distinct": DISTINCT_METRICS,
    "rouge": ROUGE_METRICS,
    "all": DEFAULT_METRICS | BLEU_METRICS | DISTINCT_METRICS,
}
"""`all` is without rouge, as in ParlAI where nltk's model of sentences is not installed."""

ALWAYS: Final = frozenset(("exs", "accuracy", "precision", "recall", "f1"))
"""Reported whatever the list says."""

HITS: Final = frozenset(("hits@1", "hits@5", "hits@10", "hits@100"))
"""Reported wherever an act has `text_candidates`."""


_AUC: Final = re.compile(r"auc(?:-(?P<digits>[1-9]))?")


class RequestedMetrics(msgspec.Struct, frozen=True):
    """The metrics requested beside the metrics that are always reported."""

    bleu: tuple[int, ...]
    inter_distinct: tuple[int, ...]
    intra_distinct: tuple[int, ...]
    mrr: bool
    functions: tuple[tuple[str, ScoreFunction], ...]
    """Name in the report, and a function of guess and labels."""
    rouge: tuple[str, ...]
    """ParlAI's own rouge, by its names in reports."""
    auc: int | None
    """Decimal places of the probabilities for the area under the curve; None for no area."""
    unknown: tuple[str, ...]


def requested_metrics(names: str | Iterable[str]) -> RequestedMetrics:
    """Read names, separated by commas if given as one string.

    Raise `ConfigError` for a function that cannot be loaded, `MissingExtra` for a score whose
    package is not installed. Unknown names request nothing, as in ParlAI; they are returned as
    `unknown`.
    """
    asked = names.split(",") if isinstance(names, str) else list(names)
    asked = [name.strip() for name in asked if name.strip()]
    flat = {one for name in asked for one in GROUPS.get(name, (name,))}
    functions: dict[str, ScoreFunction] = {}
    for name in dict.fromkeys(asked):
        if name in PUBLISHED:
            functions[name] = load_published(name)
        elif _is_dotted(name):
            short = short_name(name)
            taken = short in functions or short in _known_names()
            functions[name if taken else short] = load_score_function(name)
    return RequestedMetrics(
        bleu=_orders("bleu", flat),
        inter_distinct=_orders("interdistinct", flat),
        intra_distinct=_orders("intradistinct", flat),
        mrr="mrr" in flat,
        functions=tuple(functions.items()),
        rouge=tuple(ROUGES[name] for name in sorted(ROUGE_METRICS & flat)),
        auc=_digits(flat),
        unknown=tuple(
            name
            for name in sorted(flat)
            if name not in _known_names() and not _is_dotted(name) and not _AUC.fullmatch(name)
        ),
    )


def _digits(names: Iterable[str]) -> int | None:
    found = [int(given["digits"] or DIGITS) for given in map(_AUC.fullmatch, names) if given]
    return max(found, default=None)


def check_names(names: str | Iterable[str]) -> None:
    """Raise `BadInput` with a suggestion for unknown names and functions that cannot be loaded."""
    for name in requested_metrics(names).unknown:
        hint = suggest(name, [*_known_names(), *GROUPS])
        raise BadInput(f"there is no metric {name!r}; {hint}", field="metrics")


def _known_names() -> list[str]:
    return sorted(ALL_METRICS | ALWAYS | HITS | PUBLISHED.keys() | {"mrr", "auc"})


def _is_dotted(name: str) -> bool:
    return "." in name or ":" in name


def _orders(kind: str, names: Iterable[str]) -> tuple[int, ...]:
    return tuple(order for order in range(1, 5) if f"{kind}-{order}" in names)
