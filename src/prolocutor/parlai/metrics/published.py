"""Scores of published packages, under names of their own, for texts as they are (extra `eval`).

| name | scale | what |
|---|---|---|
| `sacrebleu` | 0-100 | sentence BLEU of sacrebleu (Post 2018) with effective order: orders that the
  guess is too short for are left out, so a perfect answer is 100 whatever its length |
| `chrf` | 0-100 | chrF2 of sacrebleu (Popović 2015), characters up to 6 |
| `rouge1` `rouge2` `rougeL` | 0-1 | F of rouge-score (Lin 2004), stemmed, best over the labels |

The report holds the means of the examples' scores, each with its standard error. ParlAI's own
`rouge_1`, `rouge_2`, `rouge_L` (py-rouge's recall, which needs a model of nltk to split sentences
and is left out by ParlAI where that is absent) are not computed.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from prolocutor.errors import MissingExtra
from prolocutor.parlai.metrics.functions import Function

PUBLISHED: Final = {
    "sacrebleu": "sacrebleu",
    "chrf": "sacrebleu",
    "rouge1": "rouge_score",
    "rouge2": "rouge_score",
    "rougeL": "rouge_score",
}
"""Name of the score -> package that computes it."""


def load_published(name: str) -> Function:
    """Return the function that computes the score `name` of a guess; None where there is no label.

    `MissingExtra` if its package is not installed.
    """
    if name == "sacrebleu":
        return _best_of_all(_package("sacrebleu.metrics", name).BLEU(effective_order=True))
    if name == "chrf":
        return _best_of_all(_package("sacrebleu.metrics", name).CHRF())
    scorer = _package("rouge_score.rouge_scorer", name).RougeScorer([name], use_stemmer=True)

    def rouge(guess: str, labels: list[str]) -> float | None:
        return float(scorer.score_multi(labels, guess)[name].fmeasure) if labels else None

    return rouge


def _best_of_all(metric: Any) -> Function:
    """Return the sentence score of one of sacrebleu's metrics, which looks at all labels at
    once."""

    def score(guess: str, labels: list[str]) -> float | None:
        return float(metric.sentence_score(guess, list(labels)).score) if labels else None

    return score


def _package(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the metric {name!r} needs {error.name!r}, which is not installed: "
            "pip install 'prolocutor[eval]'"
        ) from None
