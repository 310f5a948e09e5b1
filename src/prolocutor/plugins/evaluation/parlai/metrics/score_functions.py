"""Score functions `(guess, labels) -> number`: users' by dotted name, and published packages'.

A user's function may return None where it does not apply. An exception, or a result that is not a
number, counts as a failure and stays out of the mean; it never ends an evaluation.

Scores of published packages (extra `eval`), for texts as they are:

| name | scale | what |
|---|---|---|
| `sacrebleu` | 0-100 | sentence BLEU of sacrebleu (Post 2018) with effective order: orders that the
  guess is too short for are left out, so a perfect answer is 100 whatever its length |
| `chrf` | 0-100 | chrF2 of sacrebleu (Popović 2015), characters up to 6 |
| `rouge1` `rouge2` `rougeL` | 0-1 | F of rouge-score (Lin 2004), stemmed, best over the labels |

ParlAI's own `rouge_1`, `rouge_2`, `rouge_L` are py-rouge's recall: `rouge.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

import msgspec

from prolocutor.errors import ConfigError, MissingExtra

ScoreFunction = Callable[[str, list[str]], Any]

PUBLISHED: Final = {
    "sacrebleu": "sacrebleu",
    "chrf": "sacrebleu",
    "rouge1": "rouge_score",
    "rouge2": "rouge_score",
    "rougeL": "rouge_score",
}
"""Name of the score -> package that computes it."""


class FunctionFailure(msgspec.Struct):
    """How often a function failed, and how it did so first."""

    first: str
    count: int = 1


def load_score_function(dotted: str) -> ScoreFunction:
    """Import `package.module:function` or `package.module.function`.

    `ConfigError` says which part of the name is wrong.
    """
    module_name, function_name = _parts(dotted)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ConfigError(
            f"the metric {dotted!r}: importing {module_name!r} failed: "
            f"{type(error).__name__}: {error}"
        ) from error
    found: Any = module
    for part in function_name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(
            f"the metric {dotted!r}: there is no function {function_name!r} in {module_name!r}"
        )
    return found  # type: ignore[no-any-return]


def short_name(dotted: str) -> str:
    """Return the function's own name, under which it is reported."""
    return dotted.replace(":", ".").rpartition(".")[2]


def _parts(dotted: str) -> tuple[str, str]:
    module, _, function = dotted.partition(":") if ":" in dotted else dotted.rpartition(".")
    if not all(module.split(".")) or not all(function.split(".")):
        raise ConfigError(f"{dotted!r} is not a dotted name; write it as package.module:function")
    return module, function


def load_published(name: str) -> ScoreFunction:
    """Return the function that computes the score `name` of a guess; its result is None without
    labels.

    Raise `MissingExtra` if its package is not installed.
    """
    if name == "sacrebleu":
        return _best_of_all(_package("sacrebleu.metrics", name).BLEU(effective_order=True))
    if name == "chrf":
        return _best_of_all(_package("sacrebleu.metrics", name).CHRF())
    scorer = _package("rouge_score.rouge_scorer", name).RougeScorer([name], use_stemmer=True)

    def rouge(guess: str, labels: list[str]) -> float | None:
        return float(scorer.score_multi(labels, guess)[name].fmeasure) if labels else None

    return rouge


def _best_of_all(metric: Any) -> ScoreFunction:
    """Return the sentence score of a sacrebleu metric, which takes all labels at once."""

    def score(guess: str, labels: list[str]) -> float | None:
        return float(metric.sentence_score(guess, list(labels)).score) if labels else None

    return score


def _package(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the metric {name!r} needs {error.name!r}, which is not installed: "
            "pip install 'prolocutor[evaluation]'"
        ) from None
