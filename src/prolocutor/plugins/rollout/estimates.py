"""Off-policy estimates, from logs: the gain of a new service over the service it would replace.

A logged turn has a reward (1: the reply was right, 0: it was not) and the probability with which
its service was chosen. Three estimators of the gain in the mean reward, new less old:

- inverse propensity (Horvitz and Thompson 1952): rewards weighted by 1 / probability
- self-normalized (Hájek 1971; Swaminathan and Joachims 2015): the same over the sum of weights
- doubly robust (Robins, Rotnitzky and Zhao 1994; Dudík, Langford and Li 2011): a regression of
  the reward on the router's score in each arm, and the weighted residuals

A person stays with a service, so persons are the sampling units: variances are sums of squares
over persons (linearised, with the small-sample factor n / (n - 1) in each arm), and quantiles are
Student's with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, log, sqrt
from statistics import NormalDist
from typing import Final

import msgspec

LEVEL: Final = 0.95
"""The confidence of intervals."""

LEAST_PERSONS: Final = 10
"""Persons of each arm with a known reward from whom on anything is decided."""

PRIOR_INFORMATION: Final = 150.0
"""The point at which the confidence sequence is tightest: a standard error of about 0.03."""

_LEAST_FITTED: Final = 20
"""Scored turns, below which nothing is fitted."""

_LEAST_SPREAD: Final = 1e-9


class LoggedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a trial whose reward is known.

    - `new`: the new service was chosen.
    - `probability` is the probability of the chosen service.
    - `score` is the router's estimate that the agent is right, None without a router.
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
    """A service of a trial: persons and turns with a known reward, and the mean reward."""

    persons: int
    turns: int
    mean: float | None


class TrialEstimates(msgspec.Struct, frozen=True, kw_only=True):
    """The estimates of a trial; they are None while an arm has fewer than two persons.

    `always` is the interval that holds at all times at once (`always_valid`).
    """

    new: ArmFigures
    old: ArmFigures
    inverse_propensity: GainEstimate | None = None
    self_normalized: GainEstimate | None = None
    doubly_robust: GainEstimate | None = None
    always: tuple[float, float] | None = None


class TurnSums(msgspec.Struct):
    """The turns of a person with a service at a probability, as sums over them.

    `rewards` and `scores` are sums, `squares` is the sum of the scores' squares, `products` the sum
    of score times reward; `scored` counts the turns with a score.
    """

    person: str
    new: bool
    probability: float
    turns: int = 0
    rewards: float = 0.0
    scored: int = 0
    scores: float = 0.0
    squares: float = 0.0
    products: float = 0.0


class TrialLog:
    """The logged turns of a trial, summed by person, as the estimators need them."""

    def __init__(self, turns: Iterable[LoggedTurn] = ()) -> None:
        self._sums: dict[tuple[str, bool, float], TurnSums] = {}
        for turn in turns:
            self.add(turn)

    def add(self, turn: LoggedTurn) -> None:
        """Add a turn."""
        key = turn.person, turn.new, turn.probability
        if (own := self._sums.get(key)) is None:
            own = self._sums[key] = TurnSums(*key)
        own.turns += 1
        own.rewards += turn.reward
        if turn.score is not None:
            own.scored += 1
            own.scores += turn.score
            own.squares += turn.score * turn.score
            own.products += turn.score * turn.reward

    @property
    def every(self) -> list[TurnSums]:
        """All turns."""
        return [*self._sums.values()]

    def arm(self, *, new: bool) -> list[TurnSums]:
        """Return the turns of the new service, or of the old service."""
        return [one for one in self._sums.values() if one.new is new]

    def figures(self, *, new: bool) -> ArmFigures:
        """Return persons, turns and the mean reward of a service."""
        own = self.arm(new=new)
        turns = sum([one.turns for one in own])
        mean = sum([one.rewards for one in own]) / turns if turns else None
        return ArmFigures(len({one.person for one in own}), turns, mean)


def estimate(log: TrialLog, error: float = 0.05) -> TrialEstimates:
    """Return the estimates of a trial; `error` is the error of each side of `always`."""
    new, old = log.figures(new=True), log.figures(new=False)
    if min(new.persons, old.persons) < 2:
        return TrialEstimates(new=new, old=old)
    return TrialEstimates(
        new=new,
        old=old,
        inverse_propensity=inverse_propensity(log),
        self_normalized=self_normalized(log),
        doubly_robust=doubly_robust(log),
        always=estimate_always(log, error),
    )


def estimate_always(log: TrialLog, error: float = 0.05) -> tuple[float, float] | None:
    """Return the interval that is valid at every look; None while an arm has too few persons."""
    if min(log.figures(new=arm).persons for arm in (True, False)) < LEAST_PERSONS:
        return None
    return always_valid(doubly_robust(log), error)


def inverse_propensity(log: TrialLog) -> GainEstimate:
    """Return the gain by rewards weighted with the inverse of their probabilities."""
    every = log.every
    number = sum([sums.turns for sums in every])
    weighted = [sums.rewards / sums.probability * (1 if sums.new else -1) for sums in every]
    gain = sum(weighted) / number
    parts = [(w - gain * sums.turns) / number for w, sums in zip(weighted, every, strict=True)]
    return _with_interval(log, gain, parts)


def self_normalized(log: TrialLog) -> GainEstimate:
    """Return the gain by weighted means of the two arms."""
    totals, means = {}, {}
    for new in (True, False):
        own = log.arm(new=new)
        totals[new] = sum([sums.turns / sums.probability for sums in own])
        means[new] = sum([sums.rewards / sums.probability for sums in own]) / totals[new]
    parts = [
        (1 if sums.new else -1)
        * (sums.rewards - means[sums.new] * sums.turns)
        / (sums.probability * totals[sums.new])
        for sums in log.every
    ]
    return _with_interval(log, means[True] - means[False], parts)


def doubly_robust(log: TrialLog) -> GainEstimate:
    """Return the gain by a regression in each arm and the weighted residuals (self-normalized)."""
    every = log.every
    number = sum([sums.turns for sums in every])
    lines = {new: _FittedLine.fit(log.arm(new=new)) for new in (True, False)}
    totals = {
        new: sum([sums.turns / sums.probability for sums in log.arm(new=new)])
        for new in (True, False)
    }
    guesses = [lines[True].expected_sum(sums) - lines[False].expected_sum(sums) for sums in every]
    residuals = [
        (sums.rewards - lines[sums.new].expected_sum(sums)) / (sums.probability * totals[sums.new])
        for sums in every
    ]
    means = {
        new: sum([r for r, sums in zip(residuals, every, strict=True) if sums.new is new])
        for new in (True, False)
    }
    model = sum(guesses) / number
    parts = []
    for sums, guess, residual in zip(every, guesses, residuals, strict=True):
        own = residual - means[sums.new] * sums.turns / (sums.probability * totals[sums.new])
        parts.append((guess - model * sums.turns) / number + (own if sums.new else -own))
    return _with_interval(log, model + means[True] - means[False], parts)


def always_valid(found: GainEstimate, error: float = 0.05) -> tuple[float, float]:
    """Return an interval that misses the gain at any look with `error` at most on each side.

    It is the two-sided normal mixture of Robbins (1970) in the form of Howard, Ramdas, McAuliffe
    and Sekhon (2021, "Time-uniform, nonparametric, nonasymptotic confidence sequences"), taken
    asymptotically (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021): the sum of scores is a
    Brownian motion in the information 1 / error^2, so logs may be looked at any time.
    """
    if not 0 < found.error < inf:
        return -1.0, 1.0
    information, prior = 1 / found.error**2, PRIOR_INFORMATION
    both = 2 * error
    half = (
        sqrt((information + prior) * log((information + prior) / (prior * both**2))) / information
    )
    return found.gain - half, found.gain + half


class _FittedLine(msgspec.Struct, frozen=True):
    """The expected reward of an arm, as a line over the score."""

    level: float
    slope: float = 0.0
    center: float = 0.0

    @classmethod
    def fit(cls, own: Sequence[TurnSums]) -> _FittedLine:
        number = sum([one.turns for one in own])
        level = sum([one.rewards for one in own]) / number
        if number < _LEAST_FITTED or sum([one.scored for one in own]) < number:
            return cls(level)
        center = sum([one.scores for one in own]) / number
        spread = sum([one.squares for one in own]) - number * center * center
        if spread < _LEAST_SPREAD:
            return cls(level)
        both = sum([one.products for one in own]) - number * center * level
        return cls(level, both / spread, center)

    def expected_sum(self, sums: TurnSums) -> float:
        """Return the sum of the expected rewards of some turns."""
        return self.level * sums.turns + self.slope * (sums.scores - self.center * sums.scored)


def _with_interval(log: TrialLog, gain: float, parts: Sequence[float]) -> GainEstimate:
    """Return a gain with its interval; `parts` are its influences, in the log's order."""
    sums: Mapping[bool, dict[str, float]] = {True: defaultdict(float), False: defaultdict(float)}
    for one, part in zip(log.every, parts, strict=True):
        sums[one.new][one.person] += part
    variance, doubt = 0.0, 0.0
    for new, own in sums.items():
        persons = len(own)
        found = sum([part * part for part in own.values()]) * persons / (persons - 1)
        found = max(found, _least_variance(log.arm(new=new)))
        variance += found
        doubt += found * found / (persons - 1)
    freedom = variance * variance / doubt if doubt > 0 else 1.0
    half = sqrt(variance) * student_quantile((1 + LEVEL) / 2, freedom)
    wide = half / NormalDist().inv_cdf((1 + LEVEL) / 2)
    return GainEstimate(gain, gain - half, gain + half, wide)


def _least_variance(own: Sequence[TurnSums]) -> float:
    """Return the variance of an arm's mean if each turn had a person of its own.

    A success and a failure are added (Agresti and Coull 1998): a few turns with the same reward
    would else have none.
    """
    number = sum([one.turns for one in own]) + 2
    share = (sum([one.rewards for one in own]) + 1) / number
    return share * (1 - share) / number


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
