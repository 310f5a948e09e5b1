"""ParlAI's rouge: recall, F1 or precision of ROUGE-1, ROUGE-2 and ROUGE-L as py-rouge computes it.

ParlAI leaves it out where nltk's model of sentences (punkt) is not there. It is not needed: the
normal form of a text has none of the signs at which sentences end, so it is one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from prolocutor.errors import BadInput, MissingExtra
from prolocutor.plugins.evaluation.parlai.metrics.text_scores import words_of

ROUGES: Final = {"rouge-1": "rouge_1", "rouge-2": "rouge_2", "rouge-L": "rouge_L"}
"""Name in a list of metrics -> name in a report."""

MEASURES: Final = ("r", "f", "p")

RougeScores = tuple[float, float, float]


def rouge_scores(guess: str, answers: Iterable[str], measure: str = "r") -> RougeScores | None:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L, each the best over the answers; None of no answers.

    `measure` is `r`, `f` or `p`, else `BadInput`. `MissingExtra` where py-rouge is not installed.
    """
    if measure not in MEASURES:
        raise BadInput(f"measure is r, f or p, not {measure!r:.20}", field="measure")
    evaluator, said = _evaluator(), " ".join(words_of(guess))
    found = [evaluator.get_scores(said, " ".join(words_of(answer))) for answer in answers]
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
        import rouge
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"ParlAI's rouge needs {error.name!r}, which is not installed: "
            "pip install 'prolocutor[evaluation]'"
        ) from None

    class OneSentence(rouge.Rouge):  # type: ignore[misc]
        """Takes a text for one sentence, for which no model is needed."""

        @staticmethod
        def tokenize_text(text: str, language: str = "english") -> list[str]:
            """Return the words of a sentence."""
            return list(nltk.word_tokenize(text, language, preserve_line=True))

    return OneSentence(metrics=["rouge-n", "rouge-l"], max_n=2)
