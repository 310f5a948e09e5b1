"""The tables in which ours and the neighbours' take turns."""

from __future__ import annotations

from bench.turns.contest import Entry, Results, Setting, middle, race, tell
from bench.turns.machine import fsync_ms
from bench.turns.report import Goal, Section, spread

CPU, WALL = "cpu_ms_per_turn", "wall_ms_per_turn"
COMPILED = "SQLite, inline, compiled"
STATS_OFF = "dp-agent, stats off, no store"
MEASURED = ["dialogs at once", "who", "CPU ms a turn", "wall ms a turn"]
IDEAL_MS = 120.0


def turns(setting: Setting) -> Section:
    """The standard pipeline in one process, by how many dialogs go on at once."""
    section = Section(
        "turns",
        "A turn, all in one process",
        "2 annotators, a rule skill selector, 3 skills, a candidate annotator, a response selector "
        "and a postprocessor;\n10 turns a dialog. `inline` are plain functions with `inline=True`, "
        "`async` are async functions. dp-agent has\nno store but dictionaries, or these with all "
        "documents sent through BSON.",
        [*MEASURED, "commits a turn", f"ratio to {STATS_OFF}"],
    )
    rounds = {1: 60, 10: 20, 100: 3, 500: 1}
    for dialogs in [10] if setting.quick else rounds:
        load = ["--dialogs", dialogs, "--turns", 10]
        often = [*load, "--rounds", 1 if setting.quick else rounds[dialogs]]
        dp = "dp-agent"
        entries = [
            setting.ours("SQLite, inline", *often),
            *setting.theirs(dp, STATS_OFF, *often),
            *(setting.ours_compiled(COMPILED, *often) if dialogs in (10, 100) else ()),
            setting.ours("SQLite, async", *often, "--variant", "turn-async"),
            *setting.theirs(dp, "dp-agent, stats off, BSON", *often, "--database", "bson"),
            setting.ours("in memory, inline", *often, "--store", "memory"),
            *setting.theirs(dp, "dp-agent, as shipped", *load, "--variant", "as-shipped"),
        ]
        results = compare(section, setting, dialogs, entries, STATS_OFF, commits=True)
        for name, most, at in (
            ("SQLite, inline", 0.6, 10),
            ("SQLite, inline", 0.4, 100),
            (COMPILED, 0.45, 10),
            (COMPILED, 0.28, 100),
        ):
            if dialogs == at and name in results.lines:
                ratio = results.ratio(name, STATS_OFF)
                goal = f"{name}, beside {STATS_OFF}: {at} dialogs"
                section.goals.append(Goal(goal, most, middle(ratio), " x"))
    pragmas = {
        (line["journal_mode"], line["synchronous"])
        for raw in section.raw.values()
        for line in raw["lines"]["SQLite, inline"]
        if line
    }
    shown = ", ".join(f"journal_mode={mode}, synchronous={level}" for mode, level in pragmas)
    if setting.compiled is None:
        section.note += "\nThe compiled wheel was not there to be measured (`make wheel-site`)."
    section.note += f"\nThe file: {shown} (2 is FULL: each commit waits once for the disk)."
    return section


def door(setting: Setting) -> Section:
    """The same through the HTTP door."""
    section = Section(
        "door",
        "A turn through the HTTP door",
        "`prolocutor serve` with the same pipeline in a process of its own, asked over kept lines; "
        "the CPU of that process\nalone. dp-agent's aiohttp server likewise.",
        [*MEASURED, "ratio to dp-agent, stats off"],
    )
    for dialogs, rounds in [(10, 1)] if setting.quick else [(1, 60), (10, 20), (100, 2)]:
        words = ["--dialogs", dialogs, "--turns", 10, "--rounds", rounds, "--door", "http"]
        entries = [
            setting.ours("prolocutor serve, SQLite", *words),
            *setting.theirs("dp-agent", "dp-agent, stats off", *words),
        ]
        results = compare(section, setting, dialogs, entries, "dp-agent, stats off")
        if dialogs == 10:
            ratio = results.ratio("prolocutor serve, SQLite", "dp-agent, stats off")
            goal = "HTTP door, SQLite, beside dp-agent's: 10 dialogs"
            section.goals.append(Goal(goal, 0.7, middle(ratio), " x"))
    return section


def services(setting: Setting) -> Section:
    """Services behind HTTP that take 20 ms each."""
    section = Section(
        "services",
        "A turn whose services are HTTP servers that take 20 ms",
        f"Six steps one after the other, so {IDEAL_MS:g} ms at best; ours on durable SQLite, which "
        f"waits twice for the disk\n(one fsync takes {fsync_ms(setting.folder):.2f} ms here). The "
        "bare client makes the same calls and nothing else.",
        [*MEASURED, "over the ideal, ms", "ratio to dp-agent, stats off"],
    )
    for dialogs, rounds in [(1, 5), (100, 1)]:
        words = ["--dialogs", dialogs, "--turns", 10, "--rounds", rounds]
        words += ["--warmup", 5]
        through_http = [*words, "--services", "http"]
        entries = [
            setting.ours("SQLite", *through_http),
            *setting.theirs("dp-agent", "dp-agent, stats off", *through_http),
            setting.bare("no assistant: a bare client", *words),
        ]
        results = compare(
            section, setting, dialogs, entries, "dp-agent, stats off", ideal=dialogs == 1
        )
        if dialogs == 1:
            ours = middle(results.span("SQLite", WALL))
            bare = middle(results.span("no assistant: a bare client", WALL))
            figure = None if ours is None or bare is None else ours - bare
            section.goals.append(
                Goal("services behind HTTP, wall over a bare client's: 1 dialog", 2, figure, " ms")
            )
        else:
            ratio = results.ratio("SQLite", "dp-agent, stats off")
            goal = "services behind HTTP, beside dp-agent, stats off: 100 dialogs"
            section.goals.append(Goal(goal, 0.5, middle(ratio), " x"))
    return section


def long_dialogs(setting: Setting) -> Section:
    """Turn 490 and later, beside the neighbours."""
    section = Section(
        "turn-490",
        "Turns 490 to 499, beside the neighbours",
        "The neighbours keep their dialogs in memory, ours on durable SQLite. Agent Squad and "
        "LangGraph route to one of 10\nagents that answer at once; `mixed`: to another one each "
        "turn.",
        [*MEASURED, "ratio of ours to it"],
    )
    for dialogs in (10, 2):
        words = ["--dialogs", dialogs, "--turns", 10, "--from-turn", 490]
        if dialogs == 10:
            ours = [setting.ours("SQLite, standard pipeline", *words)]
            theirs = [*setting.theirs("dp-agent", STATS_OFF, *words)]
        else:
            routed = ["--variant", "route-inline"]
            ours = [setting.ours("SQLite, route to one of 10", *words, *routed)]
            theirs = [
                *setting.theirs("agent-squad", "Agent Squad, route", *words),
                *setting.theirs("agent-squad", "Agent Squad, mixed", *words, "--variant", "mixed"),
                *setting.theirs("langgraph", "LangGraph, route", *words),
            ]
        results = raced(section, setting, dialogs, [*ours, *theirs])
        for entry in [*ours, *theirs]:
            ratio = None if entry.ours else results.ratio(ours[0].name, entry.name)
            row = basic_row(results, dialogs, entry.name)
            section.rows.append([*row, "" if entry.ours else spread(ratio)])
    return section


def routing(setting: Setting) -> Section:
    """Ten instant agents: one is named, or all are asked."""
    section = Section(
        "routing",
        "Ten agents that answer at once, in-memory store",
        "`route`: a selector names one. `all`: all ten are asked, the most confident wins.",
        [*MEASURED, "ratio to the neighbour"],
    )
    many = 1 if setting.quick else 30
    words = ["--dialogs", 10, "--turns", 10, "--rounds", many]
    fewer = [*words[:-1], 1 if setting.quick else 10]
    for variant, peer, name, its, most in (
        ("route", "agent-squad", "Agent Squad, route", words, 2.0),
        ("all", "langgraph", "LangGraph, all", fewer, 0.06),
    ):
        memory = [*its, "--store", "memory", "--variant"]
        entries = [
            setting.ours(f"{variant}, inline", *memory, f"{variant}-inline"),
            *setting.theirs(peer, name, *its, "--variant", variant),
            setting.ours(f"{variant}, async", *memory, f"{variant}-async"),
        ]
        results = compare(section, setting, 10, entries, name, key=variant)
        ratio = middle(results.ratio(f"{variant}, inline", name))
        section.goals.append(Goal(f"{variant}, inline, beside {name}", most, ratio, " x"))
    return section


def compare(
    section: Section,
    setting: Setting,
    dialogs: int,
    entries: list[Entry],
    reference: str,
    *,
    key: str | None = None,
    commits: bool = False,
    ideal: bool | None = None,
) -> Results:
    """Runs the entries in turns and adds a row of each, ours with their ratio to the reference."""
    results = raced(section, setting, dialogs if key is None else key, entries)
    for entry in entries:
        row = basic_row(results, dialogs, entry.name)
        if commits:
            row.append(spread(results.span(entry.name, "commits_per_turn")))
        if ideal is not None:
            wall = middle(results.span(entry.name, WALL))
            row.append("" if wall is None or not ideal else f"{wall - IDEAL_MS:.1f}")
        row.append(spread(results.ratio(entry.name, reference)) if entry.ours else "")
        section.rows.append(row)
    return results


def raced(section: Section, setting: Setting, key: object, entries: list[Entry]) -> Results:
    tell(f" {section.key}, {key}")
    results = race(entries, setting.rounds)
    section.raw = {**(section.raw or {}), str(key): results.raw()}
    return results


def basic_row(results: Results, dialogs: int, name: str) -> list[str]:
    failure = results.failures.get(name)
    shown = f"{name} (failed: {failure})" if failure else name
    return [str(dialogs), shown, *(spread(results.span(name, key)) for key in (CPU, WALL))]
