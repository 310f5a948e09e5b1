"""BLEU of token ids, with the numbers of fairseq's `libbleu` (fairseq/scoring/bleu.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, inf, log
from typing import Any, Final

from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric, MetricFault, Number

ORDERS: Final = (1, 2, 3, 4)
_NEVER: Final = -999
"""The number of an unknown token of a reference, which never matches."""


class FairseqBleuMetric(Metric):
    """BLEU up to an order, from 0 to 100, over a corpus of token ids.

    `pred` and `ref` are ids (lists, arrays or tensors). Padding at both ends and ends of sentences
    at the right are cut off; unknown tokens of the reference match nothing.
    """

    __slots__ = ("counts", "matches", "order", "pred_length", "ref_length")

    def __init__(
        self, pred: Any, ref: Any, pad_idx: int, eos_idx: int, unk_idx: int, order: int
    ) -> None:
        wanted = _ids(ref)
        if any(one < 0 for one in wanted):
            raise MetricFault("the ids of a reference are not negative")
        said = _trim_tokens(_ids(pred), pad_idx, eos_idx)
        marked = [_NEVER if one == unk_idx else one for one in wanted]
        wanted = _trim_tokens(marked, pad_idx, eos_idx)
        self.order = order
        self.pred_length, self.ref_length = len(said), len(wanted)
        grams = [(_grams(said, size), _grams(wanted, size)) for size in ORDERS]
        self.counts = [one.total() for one, _ in grams]
        self.matches = [(one & other).total() for one, other in grams]

    @staticmethod
    def compute_many(
        guess: Any, answers: Any, pad_idx: int, end_idx: int, unk_idx: int
    ) -> list[FairseqBleuMetric]:
        """Return BLEU-1 to BLEU-4."""
        return [
            FairseqBleuMetric(guess, answers, pad_idx, end_idx, unk_idx, order) for order in ORDERS
        ]

    @property
    def macro_average(self) -> bool:
        """Whether the figure over several tasks is the mean of theirs: it is."""
        return True

    def __add__(self, other: Any) -> FairseqBleuMetric:
        if other is None:
            return self
        both = FairseqBleuMetric((), (), 0, 0, 0, self.order)
        both.pred_length = self.pred_length + other.pred_length
        both.ref_length = self.ref_length + other.ref_length
        both.counts = [one + more for one, more in zip(self.counts, other.counts, strict=True)]
        both.matches = [one + more for one, more in zip(self.matches, other.matches, strict=True)]
        return both

    def value(self) -> Number:
        if not self.pred_length:
            return 0.0
        shares = [
            matched / counted if counted else 0.0
            for matched, counted in zip(self.matches, self.counts, strict=True)
        ][: self.order]
        logs = sum(log(share) if share else -inf for share in shares)
        brevity = min(1.0, exp(1 - self.ref_length / self.pred_length))
        return brevity * exp(logs / self.order) * 100


def _ids(given: Any) -> list[int]:
    flat = given.reshape(-1) if hasattr(given, "reshape") else given
    return [int(one) for one in (flat.tolist() if hasattr(flat, "tolist") else flat)]


def _trim_tokens(ids: Sequence[int], pad: int, eos: int) -> list[int]:
    start, end = 0, len(ids)
    while start < end and ids[start] == pad:
        start += 1
    while end > start + 1 and ids[end - 1] in (pad, eos):
        end -= 1
    return list(ids[start:end])


def _grams(ids: Sequence[int], size: int) -> Counter[tuple[int, ...]]:
    return Counter(zip(*[ids[start:] for start in range(size)], strict=False))
