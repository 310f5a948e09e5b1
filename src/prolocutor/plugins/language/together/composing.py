"""Composing: one reply from the agents' answers to an utterance and to its clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from prolocutor.dialog.rounds import FollowUp, read_follow_up
from prolocutor.plugins.language.together.clauses import split_clauses
from prolocutor.reading.languages import language_of
from prolocutor.reading.locales.locale import sentence

Hypothesis = dict[str, Any]

WELL: Final = 0.5
"""Confidence from which on a hypothesis counts as an answer."""

ABOUT_AS_SURE: Final = 0.12
"""Less confidence by so much is no reason to leave a clause unanswered."""

PREFERENCE: Final = 0.15
"""By how much another skill must be surer than the one that answered the question before."""

SURE_ALONE: Final = 0.85
"""Confidence from which on words that are no order stand alone, whatever order they may repeat."""

LIKELY: Final = 0.75
"""Confidence of a follow-up from which on its words mean nothing by themselves."""

LONGEST_QUOTE: Final = 80


def choose(request: dict[str, Any]) -> Hypothesis:
    """Choose the best whole answer, or compose the best answers to the clauses.

    `part` 0 of a hypothesis is about the whole utterance, `part` n about its n-th clause. The
    answers to the clauses win if they are about as sure as the best whole answer, or surer: an
    agent that knows only a part of the whole says so with less confidence, or says no more than
    to that clause. Clauses that stay without an answer are named.

    Where the words were a follow-up, `part` 0 is about the words alone, and the others, from 1 on,
    about the question that they mean. An answer to that question goes first if it is likely that
    the words do not stand alone, else the surer answer. Where it would change what is kept of
    the person, and the words by themselves are answered well without that, they stand alone.
    """
    every, meant = _preferring(request), _meant(request)
    if meant is None or not any(one.get("part", 0) for one in every):
        return _compose(request, every)
    alone = [one for one in every if not one.get("part", 0)]
    whole = [{**one, "part": one["part"] - 1} for one in every if one.get("part", 0)]
    chosen = _compose(request, whole)
    best = max(alone, key=_confidence, default=None)
    if best is None:
        return chosen
    known, sure = _confidence(chosen), _confidence(best)
    repeated = meant.of and len(chosen["hypotheses"]) == 1 and sure >= SURE_ALONE
    if repeated and _acts([best]) < _acts(_named(chosen, every)):
        return _alone(best)
    unsure = known < WELL or meant.confidence < LIKELY
    return _alone(best) if unsure and sure > known else chosen


def _acts(hypotheses: list[Hypothesis]) -> bool:
    """Return whether hypotheses change what is kept of a person."""
    return any(one.get("human_attributes") for one in hypotheses)


def _named(chosen: Hypothesis, every: list[Hypothesis]) -> list[Hypothesis]:
    return [one for one in every if one["hypothesis_id"] in chosen["hypotheses"]]


def _preferring(request: dict[str, Any]) -> list[Hypothesis]:
    """Return the hypotheses; those of the skill that goes on are `PREFERENCE` surer.

    Its answer to the words by themselves is not, where the words are a follow-up.
    """
    preferred, meant = request.get("preferred"), _meant(request)
    return [
        {**one, "preference": PREFERENCE}
        if one["skill_name"] == preferred
        and one["confidence"] >= WELL
        and (meant is None or one.get("part", 0))
        else one
        for one in request["hypotheses"]
    ]


def _meant(request: dict[str, Any]) -> FollowUp | None:
    """Return the question that the words mean, where they do not stand alone."""
    said = request.get("human_utterances") or [{}]
    return read_follow_up(said[-1].get("annotations") or {})


def _compose(request: dict[str, Any], hypotheses: list[Hypothesis]) -> Hypothesis:
    """Choose or compose among answers to a question and its clauses."""
    parts = _group_parts(hypotheses)
    wholes = parts.get(0, hypotheses)
    clauses = [_answers(parts[part]) for part in sorted(parts) if part]
    done, undone = _drop_conflicts([each[0] if each else None for each in clauses])
    answers = [one for one in done if one is not None]
    if not answers:
        return _alone(max(wholes, key=_confidence))
    sure = min(map(_confidence, answers))
    answered = [one for each in clauses for one in each]
    rival = max(
        (one for one in wholes if not _echoes(one, answered)), key=_confidence, default=None
    )
    if rival and (_wins(rival, answers, len(done) - len(answers), bool(undone))):
        return _alone(rival)
    best = max(wholes, key=_confidence, default=None)
    if best and _confidence(best) >= WELL and _is_one_name(request, done):
        return _alone(best)
    said = " ".join([_join_answers(answers), *_left_out(request, done, undone)])
    return _chosen_hypothesis(answers, said, sure, _parts_said(request, answers))


def _is_one_name(request: dict[str, Any], done: list[Hypothesis | None]) -> bool:
    """Return whether what nobody knows is no request that was said, but the end of a name: "the
    capital of Trinidad and Tobago"."""
    clauses, text = _said_clauses(request), _said_text(request)
    unknown = [clause for clause, one in zip(clauses, done, strict=False) if one is None]
    return bool(unknown) and not any(clause in text for clause in unknown)


def _wins(whole: Hypothesis, answers: list[Hypothesis], missing: int, conflict: bool) -> bool:
    """Whether an answer to the whole is better than these answers to its clauses."""
    known, sure = _confidence(whole), min(map(_confidence, answers))
    if conflict:
        return known >= WELL
    if missing:
        return known >= max(WELL, sure - ABOUT_AS_SURE)
    # One agent that has read all of it itself, and says more than to any clause.
    alone = {one["skill_name"] for one in answers} == {whole["skill_name"]}
    fuller = len(whole["text"]) > max(len(one["text"]) for one in answers)
    return known - ABOUT_AS_SURE > sure or (alone and fuller and known >= sure)


def _group_parts(hypotheses: list[Hypothesis]) -> dict[int, list[Hypothesis]]:
    parts: dict[int, list[Hypothesis]] = {}
    for one in hypotheses:
        parts.setdefault(one.get("part", 0), []).append(one)
    return parts


def _answers(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Return the answers, the surest first; ties stay in declared order."""
    answers = [one for one in hypotheses if _confidence(one) >= WELL]
    return sorted(answers, key=_confidence, reverse=True)


def _drop_conflicts(
    best: list[Hypothesis | None],
) -> tuple[list[Hypothesis | None], set[int]]:
    """Leave out the answers that would undo an earlier answer, and give their places.

    Agents know the profiles as they were before the turn: where two answers change the same
    attribute, the action of the first would be lost.
    """
    changed: set[tuple[str, str]] = set()
    undone: set[int] = set()
    for place, one in enumerate(best):
        keys = {
            (profile, key)
            for profile in ("human_attributes", "bot_attributes")
            for key in (one or {}).get(profile) or ()
        }
        if keys & changed:
            undone.add(place)
        else:
            changed |= keys
    return [None if place in undone else one for place, one in enumerate(best)], undone


def _echoes(whole: Hypothesis, answered: list[Hypothesis]) -> bool:
    """Whether an answer to the whole says no more than the same agent's answer to a clause."""
    text, skill = whole["text"].strip(" .!"), whole["skill_name"]
    return any(text == one["text"].strip(" .!") for one in answered if one["skill_name"] == skill)


def _left_out(
    request: dict[str, Any], done: list[Hypothesis | None], undone: set[int]
) -> list[str]:
    """Name the clauses without an answer, and the clauses that have to wait."""
    said = _clauses(request)
    told = language_of(" ".join(said))
    code = told.code if told is not None else None
    unknown = [place for place, one in enumerate(done) if one is None and place not in undone]
    return [
        sentence(name, code).replace(
            "{clauses}",
            "; ".join(said[place] for place in places)
            if len(said) == len(done)
            else sentence("the_rest", code),
        )
        for name, places in (("no_answer_to", unknown), ("one_at_a_time", sorted(undone)))
        if places
    ]


def _clauses(request: dict[str, Any]) -> list[str]:
    return [f"“{one.strip(' .!?,;')[:LONGEST_QUOTE]}”" for one in _said_clauses(request)]


def _said_clauses(request: dict[str, Any]) -> list[str]:
    return split_clauses(_said_text(request))


def _said_text(request: dict[str, Any]) -> str:
    """Return the question that the words mean, or else the words."""
    said = request.get("human_utterances") or [{}]
    meant = _meant(request)
    return " ".join((meant.text if meant else str(said[-1].get("text", ""))).split())


def _join_answers(answers: list[Hypothesis]) -> str:
    """Put the texts in a row, each once, as sentences."""
    return " ".join(
        _end_sentence(text) for text in dict.fromkeys(one["text"].strip() for one in answers)
    )


def _end_sentence(text: str) -> str:
    return text if text[-1:] in ".!?…:;)\"'”" else f"{text}."


def _alone(chosen: Hypothesis) -> Hypothesis:
    return _chosen_hypothesis([chosen], chosen["text"], float(chosen["confidence"]))


def _chosen_hypothesis(
    chosen: list[Hypothesis],
    text: str,
    confidence: float,
    parts: Sequence[dict[str, Any]] = (),
) -> Hypothesis:
    """Name the chosen hypotheses; the one that asks has the floor, else the last of them."""
    asking = [one for one in chosen if one.get("ask")][:1]
    chosen = [*asking, *(one for one in chosen if one not in asking)]
    named = {
        "skill_name": (asking or chosen[-1:])[0]["skill_name"],
        "text": text,
        "confidence": confidence,
        "hypotheses": [one["hypothesis_id"] for one in chosen],
    }
    return named | ({"attributes": {"parts": parts}} if parts else {})


def _parts_said(request: dict[str, Any], answers: list[Hypothesis]) -> list[dict[str, Any]]:
    """Return the question of each answer in a composed reply, for the next turn's follow-ups."""
    clauses = _said_clauses(request)
    return [
        {
            "question": clauses[place - 1],
            "skill": one["skill_name"],
            "text": one["text"],
            **{key: one[key] for key in ("entities", "continue") if key in one},
            **{
                key: value
                for key, value in (one.get("attributes") or {}).items()
                if key in ("entities", "continue")
            },
        }
        for one in answers
        if 0 < (place := one.get("part", 0)) <= len(clauses)
    ]


def _confidence(hypothesis: Hypothesis) -> float:
    return float(hypothesis["confidence"]) + float(hypothesis.get("preference", 0.0))
