"""No regular expression takes long for a text of the length that reaches it.

Each pattern of the project meets the texts of `pattern_attacks.py` in each way that it is used.
Lengths double until the time is clear: a pattern without end cannot hold the test up either.
"""

import ast
import builtins
import gc
import importlib
import inspect
import math
import pkgutil
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

import prolocutor
import prolocutor_demo
from prolocutor.assistant.assistant_settings import AssistantSettings
from prolocutor.plugins.almond import bookkeeping
from prolocutor.plugins.almond.programs import program_wishes
from prolocutor.plugins.deeppavlov.python_connectors import talk_of_topics
from prolocutor.plugins.further_asks import picture
from prolocutor.plugins.language import language_wishes
from prolocutor.plugins.language.careful import topics
from prolocutor.plugins.language.declining import declines
from prolocutor.plugins.language.follow_up import last_turn
from prolocutor.plugins.language.together import clauses
from prolocutor.reading import languages, plain_text, words
from prolocutor_demo.chance import chance_agent
from prolocutor_demo.dictionary import word_questions
from prolocutor_demo.reading import request
from tests.architecture.pattern_attacks import Attack

LIMIT = 0.02
"""Seconds of CPU on a machine where `unit()` is `UNIT`; a slower one has as much more."""

UNIT = 0.004
ACCEPTED = AssistantSettings().max_text

# What a package looks at of a text, where that is less than what is accepted.
READ = {
    "prolocutor_demo": request.LONGEST_TEXT,
    "prolocutor_demo.follow_ups": last_turn.MAX_CHARACTERS,
    "prolocutor_demo.chance": chance_agent.LONGEST,
    "prolocutor_demo.dictionary.word_questions": word_questions.LONGEST,
    "prolocutor.asks": plain_text.MAX_CHARACTERS,
    "prolocutor.plugins.almond.bookkeeping": bookkeeping.MAX_SOURCE,
    "prolocutor.plugins.almond.programs.program_wishes": program_wishes.MAX_WISH_CHARACTERS,
    "prolocutor.reading": plain_text.MAX_CHARACTERS,
    "prolocutor.reading.words": words.LONGEST_TEXT,
    "prolocutor.reading.languages": languages.MAX_CHARACTERS,
    "prolocutor.plugins.further_asks": plain_text.MAX_CHARACTERS,
    "prolocutor.plugins.further_asks.picture": picture.MAX_ADDRESS_CHARACTERS,
    "prolocutor.plugins.deeppavlov.python_connectors.topic_rules": talk_of_topics.MAX_CHARACTERS,
    "prolocutor.plugins.deeppavlov.python_connectors.talk_of_topics": talk_of_topics.MAX_CHARACTERS,
    "prolocutor.plugins.language.language_wishes": language_wishes.MAX_CHARACTERS,
    "prolocutor.plugins.pairing.answer_features": words.LONGEST_TEXT,
    "prolocutor.plugins.language.careful": 2 * topics.MAX_CHARACTERS,
    "prolocutor.plugins.language.declining": declines.LONGEST_QUOTE,
    "prolocutor.plugins.language.follow_up": last_turn.MAX_CHARACTERS,
    "prolocutor.plugins.language.together": clauses.LONGEST_TEXT,
}

# What no visitor writes, and who does.
OTHERS = {
    "prolocutor.cli": "the operator's command line",
    "prolocutor.config": "the assistant's file",
    "prolocutor.dialog.turn_request": "the assistant's functions",
    "prolocutor.plugins.authoring": "the assistant's file, and pages of its authors",
    "prolocutor.plugins.console.ways": "the assistant's file",
    "prolocutor.plugins.pairing.measuring": "files of those who measure",
    "prolocutor.plugins.pairing.budget": "the assistant's file",
}

FLAGS = {
    "match": 2,
    "search": 2,
    "fullmatch": 2,
    "findall": 2,
    "finditer": 2,
    "sub": 4,
    "subn": 4,
    "split": 3,
}


def own_modules() -> Iterator[Any]:
    for package in (prolocutor, prolocutor_demo):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


class Source:
    """What is written in a module: the calls of patterns, and the names that occur."""

    def __init__(self, module: Any) -> None:
        self.module = module
        nodes = list(ast.walk(ast.parse(inspect.getsource(module))))
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        self.names = {node.id for node in nodes if isinstance(node, ast.Name)}
        self.names |= {attribute.attr for attribute in attributes}
        self.used: dict[str, set[str]] = {}
        self.listed: set[str] = set()
        for attribute in attributes:
            if attribute.attr not in FLAGS:
                continue
            of = attribute.value
            name = of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")
            self.used.setdefault(name, set()).add(attribute.attr)
            if isinstance(of, ast.Name) and name not in vars(module) and attribute.attr != "split":
                self.listed.add(attribute.attr)
        calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
        self.calls = [
            (call, call.func.attr)
            for call in calls
            if isinstance(call.func, ast.Attribute)
            and call.func.attr in FLAGS
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "re"
            and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
        ]

    def patterns(self, others: Iterable["Source"]) -> dict[re.Pattern[str], set[str]]:
        """Return the patterns that it holds, or writes in a call, each with how it is used."""
        held: dict[re.Pattern[str], set[str]] = {}
        for name, value in vars(self.module).items():
            for pattern in held_in(value, 4):
                users = [other for other in (*others, self) if name in other.names]
                users = [self] if name.startswith("_") else users
                ways = {way for user in users for way in user.used.get(name, ())}
                ways = ways or {way for user in users for way in user.listed}
                held.setdefault(pattern, set()).update(ways or {"search"})
        for call, way in self.calls:
            held.setdefault(written_in(call, way, self.module), set()).add(way)
        return held


def held_in(value: Any, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, plain_text.FoldedPattern):
        value = value.lower
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    inner: Any = ()
    if isinstance(value, Mapping):
        inner = (*value, *value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        inner = value
    elif type(value).__module__.startswith("prolocutor"):
        names = getattr(value, "__struct_fields__", ())
        inner = (
            *getattr(value, "__dict__", {}).values(),
            *(getattr(value, name) for name in names),
        )
    if depth:
        for one in inner:
            yield from held_in(one, depth - 1)


class Names(dict[str, Any]):
    """The names of a module; any other is a word."""

    def __missing__(self, name: str) -> Any:
        return vars(builtins).get(name, "word")


def written_in(call: ast.Call, way: str, module: Any) -> re.Pattern[str]:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "flags"] + call.args[
        FLAGS[way] :
    ]
    names = Names(vars(module))
    source = ast.unparse(call.args[0])
    try:
        pattern = eval(source, names)
    except (AttributeError, TypeError):  # of an object that is made later
        pattern = re.sub(r"(?<!\{)\{[^{}]+\}(?!\})", "word", source)
    return re.compile(pattern, eval(ast.unparse(given[0]), names) if given else 0)


def unit() -> float:
    """Return the CPU seconds of a fixed piece of work of the kind that is measured."""
    begin = time.thread_time()
    re.search(r"(?:\w+ )*\d", "word " * 200 + "x")
    return time.thread_time() - begin


def slowness() -> float:
    """Return how many times slower this machine is at this moment; 1 for a quicker one."""
    return max(1, unit() / UNIT)


def cost(pattern: re.Pattern[str], ways: Iterable[str], text: str) -> float:
    begin = time.thread_time()
    for way in ways:
        if way in ("match", "fullmatch", "search"):
            getattr(pattern, way)(text)
        else:
            pattern.findall(text)
    return time.thread_time() - begin


def slowest(pattern: re.Pattern[str], ways: set[str], most: int, limit: float) -> str:
    """Return the worst text of at most this length and what it took, if that is over the limit."""
    attack = Attack(pattern.pattern, pattern.flags & ~re.UNICODE)
    worst: list[int] = []
    length = 11  # a pattern that is exponential takes a moment at twice that, not a minute
    while length < most:
        length = min(most, 2 * length)
        texts = {n: one for n, one in enumerate(attack.texts(length)) if not worst or n in worst}
        costs = {}
        for n, one in texts.items():
            costs[n] = cost(pattern, ways, one)
            if costs[n] > 10 * limit:  # others may take as long, or longer
                break
        order = sorted(costs, key=costs.__getitem__, reverse=True)
        text = texts[order[0]]
        if costs[order[0]] > limit:
            again = 4 if costs[order[0]] < 10 * limit else 0  # it may be the machine
            took = min(
                costs[order[0]] / slowness(),
                *(cost(pattern, ways, text) / slowness() for _ in range(again)),
                math.inf,
            )
            if took > LIMIT:
                return f"{took:.3f} s at {length} of {most} with {text[:40]!r}"
        if length > 150:
            worst = order[:3]
    return ""


def nearest(name: str, table: Mapping[str, Any]) -> Any:
    """Return what a table says of a module, or of the packages that it is in."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return table.get(name)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Keep the collector, which takes long among the objects of all tests, out of the times."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@pytest.mark.usefixtures("uncollected")
def test_no_pattern_takes_long_at_the_length_that_is_read() -> None:
    limit = LIMIT * max(1, min(unit() for _ in range(9)) / UNIT)
    found = []
    known: set[tuple[Any, ...]] = set()
    sources = [Source(module) for module in own_modules()]
    for source in sources:
        name = source.module.__name__
        if nearest(name, OTHERS):
            continue
        most = nearest(name, READ) or ACCEPTED
        for pattern, ways in source.patterns(sources).items():
            asked = (pattern, most, *sorted(ways))
            if asked not in known and (worst := slowest(pattern, ways, most, limit)):
                found.append(f"{name}: {pattern.pattern[:100]!r} {sorted(ways)} takes {worst}")
            known.add(asked)
    assert not found, "\n".join(found)


def test_a_pattern_that_tries_everything_is_found() -> None:
    limit = LIMIT * max(1, min(unit() for _ in range(9)) / UNIT)
    for source in (r"(?:a+)+$", r"\s*x", r"[0-9]+\.?[0-9]*y", r"(?:\w+ )*\d", r"(?:a|ab|b)*c"):
        assert slowest(re.compile(source), {"search"}, ACCEPTED, limit), source
    assert not slowest(re.compile(r"[0-9]++y"), {"match"}, ACCEPTED, limit)
