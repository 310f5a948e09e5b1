"""Off-policy estimates: what a new service gains over the one that it would replace, from logs.

A logged turn has a reward (1: the reply was right, 0: it was not) and the probability with which
its service was chosen. Three estimators of the gain in the mean reward, new less old:

- inverse propensity (Horvitz and Thompson 1952): rewards weighted by 1 / probability
- self-normalized (Hájek 1971; Swaminathan and Joachims 2015): the same over the sum of weights
- doubly robust (Robins, Rotnitzky and Zhao 1994; Dudík, Langford and Li 2011): a regression of
  the reward on the router's score in each arm, and the weighted residuals

A person stays with one service, so persons are what was drawn: variances are sums of squares over
persons (linearised, with the small-sample factor n / (n - 1) in each arm), and quantiles are
Student's with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf, isfinite, log, sqrt
from statistics import NormalDist
from typing import Final

import msgspec

LEVEL: Final = 0.95
"""The confidence of intervals."""

LEAST_PERSONS: Final = 10
"""Persons of each arm with a known reward from whom on anything is decided."""

PRIOR_INFORMATION: Final = 150.0
"""Where the confidence sequence is tightest: a standard error of about 0.03."""

_LEAST_FITTED: Final = 20
_LEAST_SPREAD: Final = 1e-9


class LoggedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a trial whose reward is known.

    `new`: the new service was chosen, with this `probability` of what was chosen. `score` is the
    router's estimate that the agent is right, None where there is none.
    """

    person: str
    new: bool
    probability: float
    reward: float
    score: float | None = None


class GainEstimate(msgspec.Struct, frozen=True):
    """A gain with its interval; `error` is the standard error, in shares of turns."""

    gain: float
    low: float
    high: float
    error: float


class ArmFigures(msgspec.Struct, frozen=True):
    """One service of a trial: persons and turns with a known reward, and the mean reward."""

    persons: int
    turns: int
    mean: float | None


class TrialEstimates(msgspec.Struct, frozen=True, kw_only=True):
    """What the logs say of a trial; estimates are None while an arm has fewer than two persons.

    `always` is the interval that holds at all times at once (`always_valid`).
    """

    new: ArmFigures
    old: ArmFigures
    inverse_propensity: GainEstimate | None = None
    self_normalized: GainEstimate | None = None
    doubly_robust: GainEstimate | None = None
    always: tuple[float, float] | None = None


def estimate(turns: Sequence[LoggedTurn], error: float = 0.05) -> TrialEstimates:
    """Return what logged turns say of a trial; `error` is that of each side of `always`."""
    new, old = _figures(turns, new=True), _figures(turns, new=False)
    if min(new.persons, old.persons) < 2:
        return TrialEstimates(new=new, old=old)
    return TrialEstimates(
        new=new,
        old=old,
        inverse_propensity=inverse_propensity(turns),
        self_normalized=self_normalized(turns),
        doubly_robust=doubly_robust(turns),
        always=always_of(turns, error),
    )


def always_of(turns: Sequence[LoggedTurn], error: float = 0.05) -> tuple[float, float] | None:
    """Return the interval that holds at every look; None while an arm has too few persons."""
    persons = [len({one.person for one in turns if one.new is arm}) for arm in (True, False)]
    if min(persons) < LEAST_PERSONS:
        return None
    return always_valid(doubly_robust(turns), error)


def inverse_propensity(turns: Sequence[LoggedTurn]) -> GainEstimate:
    """Return the gain by rewards weighted with the inverse of their probabilities."""
    weighted = [(one.reward / one.probability) * (1 if one.new else -1) for one in turns]
    gain = sum(weighted) / len(turns)
    return _estimated(turns, gain, [(one - gain) / len(turns) for one in weighted])


def self_normalized(turns: Sequence[LoggedTurn]) -> GainEstimate:
    """Return the gain by weighted means of the two arms."""
    parts, gain = [0.0] * len(turns), 0.0
    for new, sign in ((True, 1.0), (False, -1.0)):
        weights = [(1 / one.probability if one.new is new else 0.0) for one in turns]
        total = sum(weights)
        mean = sum(w * one.reward for w, one in zip(weights, turns, strict=True)) / total
        gain += sign * mean
        for at, one in enumerate(turns):
            parts[at] += sign * weights[at] * (one.reward - mean) / total
    return _estimated(turns, gain, parts)


def doubly_robust(turns: Sequence[LoggedTurn]) -> GainEstimate:
    """Return the gain by a regression in each arm and the weighted residuals (self-normalized)."""
    new, old = _Line.fitted(turns, new=True), _Line.fitted(turns, new=False)
    totals = {
        arm: sum(1 / one.probability for one in turns if one.new is arm) for arm in (True, False)
    }
    number = len(turns)
    corrections = {True: 0.0, False: 0.0}
    expected, residuals = [], []
    for one in turns:
        line = new if one.new else old
        residual = (one.reward - line.at(one.score)) / (one.probability * totals[one.new])
        corrections[one.new] += residual
        residuals.append(residual)
        expected.append(new.at(one.score) - old.at(one.score))
    model = sum(expected) / number
    gain = model + corrections[True] - corrections[False]
    parts = []
    for one, guess, residual in zip(turns, expected, residuals, strict=True):
        share = 1 / (one.probability * totals[one.new])
        own = residual - corrections[one.new] * share
        parts.append((guess - model) / number + (own if one.new else -own))
    return _estimated(turns, gain, parts)


def always_valid(found: GainEstimate, error: float = 0.05) -> tuple[float, float]:
    """Return an interval that misses the gain at any look with `error` at most on each side.

    It is the two-sided normal mixture of Robbins (1970) in the form of Howard, Ramdas, McAuliffe
    and Sekhon (2021, "Time-uniform, nonparametric, nonasymptotic confidence sequences"), taken
    asymptotically (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021): the sum of scores is a
    Brownian motion in the information 1 / error^2, so logs may be looked at whenever one likes.
    """
    if not 0 < found.error < inf:
        return -1.0, 1.0
    information, prior = 1 / found.error**2, PRIOR_INFORMATION
    both = 2 * error
    half = (
        sqrt((information + prior) * log((information + prior) / (prior * both**2))) / information
    )
    return found.gain - half, found.gain + half


class _Line(msgspec.Struct, frozen=True):
    """The reward that an arm is expected to have, by the score."""

    level: float
    slope: float = 0.0
    center: float = 0.0

    @classmethod
    def fitted(cls, turns: Sequence[LoggedTurn], *, new: bool) -> _Line:
        own = [one for one in turns if one.new is new]
        mean = sum(one.reward for one in own) / len(own)
        scored = [(one.score, one.reward) for one in own if one.score is not None]
        if len(scored) < len(own) or len(own) < _LEAST_FITTED:
            return cls(mean)
        center = sum(score for score, _ in scored) / len(scored)
        spread = sum((score - center) ** 2 for score, _ in scored)
        if spread < _LEAST_SPREAD:
            return cls(mean)
        slope = sum((score - center) * (reward - mean) for score, reward in scored) / spread
        return cls(mean, slope, center)

    def at(self, score: float | None) -> float:
        if score is None:
            return self.level
        return self.level + self.slope * (score - self.center)


def _figures(turns: Sequence[LoggedTurn], *, new: bool) -> ArmFigures:
    own = [one for one in turns if one.new is new]
    mean = sum(one.reward for one in own) / len(own) if own else None
    return ArmFigures(len({one.person for one in own}), len(own), mean)


def _estimated(turns: Sequence[LoggedTurn], gain: float, parts: Sequence[float]) -> GainEstimate:
    """Return a gain with its interval; `parts` are the turns' influences on it."""
    sums: Mapping[bool, dict[str, float]] = {True: defaultdict(float), False: defaultdict(float)}
    for one, part in zip(turns, parts, strict=True):
        sums[one.new][one.person] += part
    variance, doubt = 0.0, 0.0
    for new, own in sums.items():
        persons = len(own)
        found = sum(part * part for part in own.values()) * persons / (persons - 1)
        found = max(found, _least_variance(turns, new=new))
        variance += found
        doubt += found * found / (persons - 1)
    freedom = variance * variance / doubt if doubt > 0 else 1.0
    half = sqrt(variance) * student_quantile((1 + LEVEL) / 2, freedom)
    wide = half / NormalDist().inv_cdf((1 + LEVEL) / 2)
    return GainEstimate(gain, gain - half, gain + half, wide)


def _least_variance(turns: Sequence[LoggedTurn], *, new: bool) -> float:
    """Return the variance of an arm's mean if each turn were a person's only one.

    A success and a failure are added (Agresti and Coull 1998): a few turns with the same reward
    would else have none.
    """
    rewards = [one.reward for one in turns if one.new is new]
    share = (sum(rewards) + 1) / (len(rewards) + 2)
    return share * (1 - share) / (len(rewards) + 2)


def student_quantile(probability: float, freedom: float) -> float:
    """Return a quantile of Student's t (Cornish and Fisher's expansion; Abramowitz, Stegun 26.7.5).

    Its error is below 0.01 from four degrees of freedom on.
    """
    z, n = NormalDist().inv_cdf(probability), max(1.0, freedom)
    terms = (
        z,
        (z**3 + z) / (4 * n),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3),
    )
    found = sum(terms)
    return found if isfinite(found) else z
