"""Whatever a program says, and whatever skills give: a run ends in words, and raises nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from prolocutor.contracts.programs import ProgramRun, ProgramSource, ProgramStart
from prolocutor.dialog.messages import checked_ask, checked_messages
from prolocutor.errors import ServiceLate
from prolocutor.plugins.almond.programs.executor import Executor
from tests.model_store import ModelStore
from tests.plugins.almond.unit.programs.gadgets import Gadgets, begun, service

MANIFEST = """
class @org.prolocutor.gadgets {
  monitorable list query all(out s : String, out n : Number, out m : Measure(m), out c : Currency,
    out d : Date, out t : Time, out l : Location, out b : Boolean, out a : Array(Number),
    out e : Enum(x, y), out u : Entity(tt:url), out o : {p : Number});
  action do(in req s : String, in opt n : Number);
}
"""
TYPED = {
    "s": ['"text"', '"u"^^tt:url', "s", "$result"],
    "n": ["5", "-0.5", "n", "o.p", "$?"],
    "m": ["2km", "m"],
    "c": ["3$usd", "5"],
    "d": [
        "$now",
        "new Date(2026, 5, 31)",
        "new Date(, , 5)",
        "new Date(enum(monday))",
        "$start_of(week)",
    ],
    "t": ["new Time(12, 0)", "$time.morning"],
    "l": ['new Location(1, 2, "x")', 'new Location("x")', "$location.home"],
    "b": ["true", "b"],
    "a": ["[1, 2]"],
    "e": ["enum(x)"],
    "u": ['"u"^^tt:url', "s"],
    "o.p": ["5", "n"],
}
"""Fields, and what they are compared with."""

ORDERED, TEXTS = "n m c d t o.p".split(), ["s", "u"]


def compared(form: str, names: list[str]) -> st.SearchStrategy[str]:
    """Return comparisons of fields with what is of their type."""
    pairs = [(name, constant) for name in names for constant in TYPED[name]]
    return st.sampled_from([form.format(name, constant) for name, constant in pairs])


fields, ordered = st.sampled_from([*TYPED]), st.sampled_from(ORDERED)
conditions = st.one_of(
    compared("{} == {}", [*TYPED]),
    *(compared(f"{{}} {one} {{}}", ORDERED) for one in (">=", "<=", ">", "<")),
    *(compared(f"{{}} {one} {{}}", ["s"]) for one in ("=~", "~=")),
    compared("in_array({}, [{}])", ["n", "c", "d", "l"]),
    compared("starts_with({}, {})", ["s"]),
    st.just("contains(a, 5)"),
)
CALL = "@org.prolocutor.gadgets.all()"


def around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} filter {})".format, inner, conditions),
        st.builds("(sort({} desc of {}))".format, ordered, inner),
        st.builds("{}[{}]".format, inner, st.sampled_from(["1", "-1", "1, 9", "2:3", "0"])),
    )


chosen = st.recursive(st.just(CALL), around, max_leaves=4)
queries = st.one_of(
    chosen,
    st.builds("[{}, {}] of {}".format, fields, fields, chosen),
    st.builds("count({})".format, chosen),
    st.builds(
        "{}({} of {})".format, st.sampled_from(["sum", "avg"]), st.sampled_from("nmc"), chosen
    ),
    st.builds("{}({} of {})".format, st.sampled_from(["min", "max"]), ordered, chosen),
)
streams = st.one_of(
    st.builds("monitor({})".format, chosen),
    st.builds("(monitor({} of {}) filter {})".format, fields, chosen, conditions),
    st.builds("edge(monitor({})) on {}".format, chosen, conditions),
)
actions = st.builds(
    "@org.prolocutor.gadgets.do(s={}, n={})".format,
    st.sampled_from(TYPED["s"]),
    st.sampled_from(TYPED["n"]),
)
chains = st.one_of(
    st.tuples(queries),
    st.tuples(streams),
    st.tuples(chosen, queries),
    st.tuples(chosen, actions),
    st.tuples(streams, chosen, actions),
)
sources = chains.map(lambda chain: " => ".join(chain) + ";")

values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from([0.5, 1e300])
    | st.sampled_from(["", "text", "2026-05-31", "2026-05-31T12:00:00Z", "9999-12-31", "12:00:00"])
    | st.sampled_from([{"value": 3, "code": "usd"}, {"value": 1, "code": 5}, {"display": "x"}]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("pvalue"), inner, max_size=2)
    ),
    max_leaves=3,
)
results = st.lists(st.dictionaries(st.sampled_from([*TYPED]), values), max_size=3)


class Gives:
    """A caller whose skill gives the same whatever it is asked; None is late."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    async def call(self, service: str, request: dict[str, Any], **how: Any) -> Any:
        if self.reply is None:
            raise ServiceLate("it did not answer in time")
        return self.reply


@given(sources, results | values)
def test_a_run_ends_in_words(source: str, reply: Any) -> None:
    run = asyncio.run(_run(source, reply))
    assert run.words.messages
    assert checked_messages(run.words.messages)
    assert checked_ask(run.words.ask) == run.words.ask


async def _run(source: str, reply: Any) -> ProgramRun:
    executor = Executor([service(Gadgets(), MANIFEST)], Gives(reply), ModelStore(), deadline=60.0)
    start = ProgramStart(opened=await begun(), source=ProgramSource(text=source))
    run = await executor.run(start)
    for entry in run.entries:
        await executor.due(entry)
    return run
