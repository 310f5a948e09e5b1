"""The tables of our own: by length of the dialog, memory, starting, where the time goes."""

from __future__ import annotations

import statistics

from bench.turns import startup
from bench.turns.contest import Setting, Span, middle, module, shares, tell
from bench.turns.profiling import split_table
from bench.turns.report import Goal, Section, number, spread


def lengths(setting: Setting) -> Section:
    """By the length of the dialog, and after a restart in a big file."""
    section = Section(
        "lengths",
        "A turn by the length of its dialog",
        "10 dialogs at a time, durable SQLite, in laps: each length, then all again. The ratio is "
        "taken lap by lap. Long dialogs\nand the file of 100,000 are written in bulk, past the "
        "engine; after the restart each person speaks for the first time.",
        ["what", "CPU ms a turn", "ratio to turn 10"],
    )
    long = module("lengths", "long", "--dir", setting.folder)
    marks = {mark: [lap[mark] for lap in long["laps"]] for mark in long["laps"][0]}
    for mark, figures in marks.items():
        ratio = shares(figures, marks["10"])
        section.rows.append(
            [f"turn {int(mark):,}", spread(Span.of(figures)), spread(ratio) if mark != "10" else ""]
        )
    ratio = shares(marks["5000"], marks["10"])
    section.goals.append(Goal("turn 5,000 beside turn 10", 1.05, middle(ratio), " x"))
    after = module("lengths", "people", "--dir", setting.folder)
    small, big = ([lap[name] for lap in after["laps"]] for name in ("small", "big"))
    section.rows += [
        ["first turns after a restart, 800 dialogs in the file", spread(Span.of(small)), ""],
        [
            f"the same, {after['people']:,} dialogs in the file ({after['file_mb']:,.0f} MB)",
            spread(Span.of(big)),
            f"{spread(shares(big, small))} to the line above",
        ],
    ]
    section.raw = {"long": long, "restart": after}
    return section


def idle_memory(setting: Setting) -> Section:
    """What idle dialogs hold in memory."""
    section = Section(
        "memory",
        "Memory held by idle dialogs",
        "Growth of the resident set while 10,000 people say two things each, and then 10,000 "
        "others.",
        ["store", "KiB per 1,000 dialogs, first 10,000", "KiB per 1,000 dialogs, next 10,000"],
        raw=[],
    )
    for store in ("sqlite", "memory"):
        line = module("memory", "--store", store, "--dir", setting.folder)
        section.raw.append(line)
        name = "SQLite" if store == "sqlite" else "in memory (holds all that was said)"
        first, second = (number(line[f"kib_per_1000_{which}"]) for which in ("first", "second"))
        section.rows.append([name, first, second])
        if store == "sqlite":
            goal = "KiB held by 1,000 idle dialogs, SQLite, first 10,000"
            section.goals.append(Goal(goal, 1000, line["kib_per_1000_first"], " KiB"))
    return section


def starting(setting: Setting) -> Section:
    """Importing, and the shortest command."""
    section = Section(
        "start",
        "Starting",
        "Wall seconds, ten times each.",
        ["what", "seconds"],
        raw={},
    )
    for name, measure, most in (
        ("import prolocutor", startup.import_seconds, 0.1),
        ("import prolocutor; prolocutor.Assistant", startup.import_all_seconds, None),
        ("prolocutor --help", startup.help_seconds, 0.3),
    ):
        figures = [measure() for _ in range(2 if setting.quick else 10)]
        tell(f"  {name}: {statistics.median(figures):.3f} s")
        section.raw[name] = figures
        section.rows.append([f"`{name}`", spread(Span.of(figures))])
        if most is not None:
            section.goals.append(Goal(f"`{name}`", most, statistics.median(figures), " s"))
    return section


def where(setting: Setting) -> Section:
    """Where the time of a turn goes."""
    found = module("profiling", "--dir", setting.folder)
    whole = sum(found["own_seconds"].values())
    files = list(found["own_seconds"].items())[:20]
    return Section(
        "where",
        "Where the time goes",
        "The standard pipeline, inline, on durable SQLite. CPU microseconds a turn, without the "
        f"profiler:\n\n{split_table(found)}\n\nOwn time of the event loop at {found['dialogs']} "
        "dialogs at once by cProfile, C functions counted for their callers (it makes\nsmall "
        "functions look dearer than they are):",
        ["where", "share"],
        [[name, f"{seconds / whole:.1%}"] for name, seconds in files],
        raw=found,
    )
