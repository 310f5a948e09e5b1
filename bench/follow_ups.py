"""Grades the rules of follow-ups on agents that nobody wrote rules for.

`tests/data/follow_ups` has lists of dialogs: the weights of the rules are fitted on `known.txt`,
`tuned.txt` and `invented.txt`, while `kept.txt` and `unseen.txt` tell how good they are on agents
that they have not seen. Each dialog is held twice: with the entities that its agent tells, and
without.

    python bench/follow_ups.py [FILE ...] [--wrong]
    python bench/follow_ups.py --fit    # print the weights that the fitted lists ask for
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from prolocutor.contracts.connector import AgentProfile
from prolocutor.plugins.language.follow_up.annotator import FollowUps
from prolocutor.plugins.language.follow_up.filling import (
    filled,
    fillings,
    fragment_parts,
    question_with,
)
from prolocutor.plugins.language.follow_up.fragments import Continuing
from prolocutor.plugins.language.follow_up.general import RULES, continuing
from prolocutor.plugins.language.follow_up.grammar import grammar_of
from prolocutor.plugins.language.follow_up.last_turn import last_turns_of
from prolocutor.reading.languages import language_of
from prolocutor.reading.plain_text import strip_accents

LISTS: Final = Path(__file__).parents[1] / "tests" / "data" / "follow_ups"
FITTED: Final = ("known", "tuned", "invented")
"""The lists that weights are fitted on."""

DEMO: Final = LISTS.parents[1] / "demo"
ASKED: Final = (
    ("what time is it in Tokyo", "It is 9:00."),
    ("how much is a small car in Nice for three days?", "120 euros."),
    ("does Boots sell paracetamol", "Yes, it does."),
)
"""Questions after which requests stand alone."""

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*'?")
_LONGER: Final = 2
"""Letters by which a word may be longer than what is looked for: "costs" for "cost"."""


class FollowUpCase(msgspec.Struct, frozen=True):
    """Words after a turn, and what must arrive.

    `profiles` are the agents of its list, `wanted` alternatives of words that the whole question
    has or, with "-", has not; "." are the words as they were said, "=" opens the whole question,
    and "_" joins words that stand beside each other. `before` are the turns before the last,
    as utterances.
    """

    profiles: tuple[AgentProfile, ...]
    agent: str
    question: str
    reply: str
    entities: tuple[dict[str, str], ...]
    words: str
    wanted: str
    before: tuple[dict[str, Any], ...] = ()

    def meaning(self, rules: FollowUps, *, entities: bool) -> str:
        """Return the whole question that the rules make, the words where they make none."""
        return str(rules(self.state(entities=entities)).get("text") or self.words)

    def state(self, *, entities: bool) -> dict[str, Any]:
        """Return the agent state of the turn."""
        said: dict[str, Any] = {"text": self.words, "annotations": {}}
        turns = [*self.before, *_utterances(self.agent, self.question, self.reply, self.entities)]
        if not entities:
            turns = [turn | {"attributes": {}} if "attributes" in turn else turn for turn in turns]
        utterances = [*turns, said]
        return {"utterances": utterances, "human_utterances": [utterances[0], said]}

    def is_right(self, whole: str) -> bool:
        """Return whether a whole question has what it must have."""
        if self.wanted.startswith("="):
            return whole == self.wanted[1:]
        return any(self._has(one.split(), whole) for one in self.wanted.split("|"))

    def _has(self, wanted: list[str], whole: str) -> bool:
        said = _words(whole)
        if wanted == ["."]:
            return said == _words(self.words)
        text = f" {' '.join(said)} "
        if not all(f" {' '.join(_words(one))} " in text for one in wanted if "_" in one):
            return False
        return all(
            any(word.startswith(one) and len(word) <= len(one) + _LONGER for word in said)
            for one in _words(" ".join(one for one in wanted if one[0] != "-"))
        ) and not set(_words(" ".join(one[1:] for one in wanted if one[0] == "-"))) & set(said)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    lists = [LISTS / f"{name}.txt" for name in (*FITTED, "kept", "unseen")]
    parser.add_argument("files", nargs="*", type=Path, default=lists)
    parser.add_argument("--wrong", action="store_true", help="list what arrived wrong")
    parser.add_argument("--fit", action="store_true", help="fit the weights, and print them")
    given = parser.parse_args()
    if given.fit:
        show_weights(fit_weights(_choices()))
        return
    print(f"{'list':<12}{'follow-ups':>11}{'with entities':>15}{'without':>9}{'us a turn':>11}")
    for file in given.files:
        cases = read_cases(file)
        rules = FollowUps(cases[0].profiles)
        wrong, right, costs = [], {}, []
        for entities in (True, False):
            right[entities] = 0
            for case in cases:
                case.meaning(rules, entities=entities)
                before = time.thread_time_ns()
                whole = case.meaning(rules, entities=entities)
                costs.append((time.thread_time_ns() - before) / 1000)
                right[entities] += case.is_right(whole)
                if not case.is_right(whole):
                    wrong.append((case, whole, entities))
        print(
            f"{file.stem:<12}{len(cases):>11}{right[True]:>15}{right[False]:>9}"
            f"{statistics.median(costs):>11.0f}"
        )
        for case, whole, entities in wrong if given.wrong else ():
            told = "entities" if entities else "none"
            print(f"  {told:<9}{case.question!r}: {case.words!r} -> {whole!r} ({case.wanted})")


def read_cases(file: Path) -> list[FollowUpCase]:
    """Return the cases of a list, in their order."""
    lines = [line for line in file.read_text("utf-8").splitlines() if line[:1] not in ("#", "")]
    profiles = tuple(_profiles(lines))
    cases = []
    agent, question, reply = "", "", ""
    entities: tuple[dict[str, str], ...] = ()
    earlier: list[dict[str, Any]] = []
    before: tuple[dict[str, Any], ...] = ()
    for line in lines:
        mark, _, rest = line.partition(" ")
        if mark == "agent:":
            agent = rest
        elif mark == "<":
            turn, _, named = rest.partition(" @ ")
            asked, _, replied = turn.partition(" = ")
            earlier += _utterances(agent, asked, replied, _entities(named))
        elif mark == "?":
            question, entities = rest, ()
            before, earlier = tuple(earlier), []
        elif mark == "=":
            reply = rest
        elif mark == "@":
            entities = _entities(rest)
        elif mark == ">":
            words, _, wanted = rest.partition(" => ")
            told = (question, reply, entities, words, wanted, before)
            cases.append(FollowUpCase(profiles, agent, *told))
    return cases


def _utterances(
    agent: str, question: str, reply: str, entities: Sequence[dict[str, str]]
) -> list[dict[str, Any]]:
    replied = {
        "text": reply, "active_skill": agent, "attributes": {"entities": [*entities]}
    }  # fmt: skip
    return [{"text": question, "annotations": {}}, replied]


def _entities(text: str) -> tuple[dict[str, str], ...]:
    """Return the entities of "name/type, name/type"."""
    pairs = (one.strip().rpartition("/") for one in text.split(",") if one.strip())
    return tuple({"text": name, "type": kind} for name, _, kind in pairs)


# -- fitting --------------------------------------------------------------------------------------

Choice = list[tuple[tuple[str, ...], float, bool]]
"""What may become of a fragment: its clues, what its places count, whether it is right."""

STEPS: Final = 3_000
RATE: Final = 0.05
SHRINK: Final = 0.001
"""How much of the square of a weight is taken off, so that rare clues stay small."""


def fit_weights(choices: list[Choice]) -> dict[str, float]:
    """Return the weights under which right candidates are likeliest (a softmax over each choice).

    They are found by steps along the gradient of the mean log-likelihood, less the squares of the
    weights.
    """
    clues = sorted({clue for choice in choices for one, _, _ in choice for clue in one})
    at = {clue: place for place, clue in enumerate(clues)}
    rows = np.zeros((sum(map(len, choices)), len(clues)))
    places, right, of = [], [], []
    for number, choice in enumerate(choices):
        for one, place, good in choice:
            np.add.at(rows[len(of)], [at[clue] for clue in one], 1)
            places.append(place)
            right.append(good)
            of.append(number)
    place, good, number = np.array(places), np.array(right, float), np.array(of)
    weights, mean, square = np.zeros(len(clues)), np.zeros(len(clues)), np.zeros(len(clues))
    for step in range(1, STEPS + 1):
        likely = np.exp(rows @ weights + place)
        all_ = likely / np.bincount(number, likely)[number]
        wanted = likely * good
        wanted = wanted / np.bincount(number, wanted)[number]
        slope = rows.T @ (wanted - all_) / len(choices) - SHRINK * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        size = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        weights += RATE * mean / (1 - 0.9**step) / size
    return dict(zip(clues, weights.tolist(), strict=True))


def show_weights(weights: dict[str, float]) -> None:
    """Print weights as they stand in `filling.py`."""
    for clue, weight in sorted(weights.items()):
        print(f'    "{clue}": {weight:.1f},')


def _choices() -> list[Choice]:
    """Return the choices that the rules have in the tuned lists and about whole requests."""
    found = []
    tuned = [case for name in FITTED for case in read_cases(LISTS / f"{name}.txt")]
    for case in [*tuned, *_whole_requests()]:
        rules = FollowUps(case.profiles)
        for entities in (True, False):
            said = _continuing(case, rules, entities=entities)
            if said is None or any(rule(said) for rule in RULES[: RULES.index(filled)]):
                continue
            parts = fragment_parts(said)
            choice: Choice = []
            for some in fillings(parts, said) if parts else ():
                whole = case.words if some[0].alone else question_with(said, some)
                clues = tuple(clue for one in some for clue in one.clues)
                place = sum(one.score({}) for one in some)
                choice.append((clues, place, case.is_right(whole)))
            if {good for _, _, good in choice} == {True, False}:
                found.append(choice)
    return found


def _continuing(case: FollowUpCase, rules: FollowUps, *, entities: bool) -> Continuing | None:
    turns = last_turns_of(case.state(entities=entities))
    if not turns:
        return None
    turn = turns[-1]
    told = language_of(case.words)
    asked = grammar_of(turn.language or "en")
    spoken = grammar_of(told.code if told else turn.language or "en")
    assert asked is not None
    assert spoken is not None
    card = rules.card_of(case.agent, spoken)
    turn = msgspec.structs.replace(turn, text=case.words, card=card)
    return continuing(case.words, turn, asked, spoken)


def _whole_requests() -> Iterator[FollowUpCase]:
    """Return requests to the demo's agents, which stand alone after any question."""
    for number, file in enumerate(sorted((DEMO / "phrasings").glob("*.txt"))):
        for line in file.read_text("utf-8").splitlines()[::2]:
            text = line.partition("\t")[0].strip()
            if text and not text.startswith("#"):
                asked, reply = ASKED[number % len(ASKED)]
                yield FollowUpCase((), "any", asked, reply, (), text, ".")
    for file in (DEMO / "dialogs").glob("*alone.txt"):
        for line in file.read_text("utf-8").splitlines():
            *before, text = line.partition(" => ")[0].split(" | ")
            if before and not line.startswith("#"):
                yield FollowUpCase((), "any", before[-1], "It is 9:00.", (), text, ".")


def _profiles(lines: list[str]) -> Iterator[AgentProfile]:
    name = ""
    for line in lines:
        mark, _, rest = line.partition(" ")
        if mark == "agent:":
            name = rest
        elif mark == "card:":
            yield AgentProfile(name=name, card={"examples": rest.split(" | ")})


def _words(text: str) -> list[str]:
    return _WORD.findall(strip_accents(text).lower())


if __name__ == "__main__":
    main()
