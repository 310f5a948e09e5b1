"""ParlAI's rouge: recall, F1 or precision of ROUGE-1, ROUGE-2 and ROUGE-L as py-rouge computes it.

ParlAI leaves it out without nltk's model of sentences (punkt). The model is not needed: a text in
normal form has no punctuation, hence it is one sentence.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from prolocutor.errors import BadInput, MissingExtra
from prolocutor.plugins.evaluation.parlai.metrics.text_scores import normal_words

ROUGES: Final = {"rouge-1": "rouge_1", "rouge-2": "rouge_2", "rouge-L": "rouge_L"}
"""Name in a list of metrics -> name in a report."""

MEASURES: Final = ("r", "f", "p")

RougeScores = tuple[float, float, float]


def rouge_scores(guess: str, answers: Iterable[str], measure: str = "r") -> RougeScores | None:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L, each the best over the answers; None without answers.

    `measure` is `r`, `f` or `p`, else raise `BadInput`. Raise `MissingExtra` without py-rouge.
    """
    if measure not in MEASURES:
        raise BadInput(f"measure is r, f or p, not {measure!r:.20}", field="measure")
    evaluator, said = _evaluator(), " ".join(normal_words(guess))
    found = [evaluator.get_scores(said, " ".join(normal_words(answer))) for answer in answers]
    if not found:
        return None
    one, two, longest = (
        max(float(each[name][measure]) for each in found)
        for name in ("rouge-1", "rouge-2", "rouge-l")
    )
    return one, two, longest


@cache
def _evaluator() -> Any:
    try:
        import nltk

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it imports pkg_resources, which is deprecated
            import rouge
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"ParlAI's rouge needs {error.name!r}, which is not installed: "
            "pip install 'prolocutor[evaluation]'"
        ) from None

    class OneSentence(rouge.Rouge):  # type: ignore[misc]
        """Treats a text as one sentence, without a model."""

        @staticmethod
        def tokenize_text(text: str, language: str = "english") -> list[str]:
            """Return the words of a sentence."""
            return list(nltk.word_tokenize(text, language, preserve_line=True))

    return OneSentence(metrics=["rouge-n", "rouge-l"], max_n=2)
