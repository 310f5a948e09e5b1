"""The benchmark runs. How fast anything is, is not asserted here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from bench import listener, simulate, workers
from bench.soaking.namespaces import NetFault, NetworkNamespace
from bench.turns import profiling
from bench.turns.bulk import fill
from bench.turns.contest import Entry, Results, Setting, race
from bench.turns.report import PAIRING, WIRE, Goal, spread, written
from bench.turns.workload import AGENTS, make_pipeline, said
from prolocutor import Assistant
from prolocutor.stores.sqlite.sqlite_store import SqliteStore

ROOT = Path(__file__).resolve().parents[2]


def test_the_quick_run_prints_its_tables_and_writes_no_docs(tmp_path: Path):
    before = docs()

    done = subprocess.run(
        [sys.executable, "bench/turns.py", "--quick", "--no-peers", "--dry-run", "--dir", tmp_path],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    assert "journal_mode=wal, synchronous=2" in done.stdout
    assert "| prolocutor serve, SQLite |" in done.stdout
    assert docs() == before


@pytest.mark.parametrize("kept", [WIRE, f"{PAIRING}\nothers\n\n{WIRE}"])
def test_the_sections_of_other_benchmarks_outlive_another_run(tmp_path: Path, kept: str) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(f"# Benchmarks\nold\n\n{kept}\nfigures\n")

    written(page, "# Benchmarks\nnew\n")

    assert page.read_text() == f"# Benchmarks\nnew\n\n{kept}\nfigures\n"


@pytest.mark.parametrize("variant", ["turn-async", "route-inline", "all-async"])
async def test_every_pipeline_says_what_is_expected_of_it(variant: str):
    async with Assistant(make_pipeline(variant), store="memory:") as assistant:
        for topic in range(len(AGENTS)):
            user = f"user-{topic}"
            text, reply = said(variant, user, 1)
            assert (await assistant.turn(text, user=user)).reply.text == reply


def test_a_profile_tells_threads_files_and_functions(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(profiling, "MANY", (1,))
    monkeypatch.setattr(profiling, "LAPS", 1)
    monkeypatch.setattr(profiling, "TURNS_SPLIT", 1)

    found = profiling.profiled(tmp_path, "turn-async", "sqlite")

    assert found["cpu_us_per_turn"]["1"].keys() >= {"event loop", "store and others"}
    assert found["own_seconds"]["JSON decoding (msgspec)"] > 0
    assert any(name.startswith("pipeline/turn.py: ") for name in found["functions"])


async def test_dialogs_stored_in_bulk_are_whole(tmp_path: Path):
    path = tmp_path / "dialogs.db"
    await fill(path, [("ann", 3), ("ben", 1)])
    store = SqliteStore(path)
    await store.open()

    dialogs = [await store.dialog(id_) for id_ in await store.dialog_ids()]
    await store.aclose()

    lengths = {
        dialog.human.user_external_id: len(dialog.utterances) for dialog in dialogs if dialog
    }
    assert lengths == {"ann": 6, "ben": 2}
    ids = [utterance.utt_id for dialog in dialogs if dialog for utterance in dialog.utterances]
    assert len(set(ids)) == 8


def test_ratios_are_taken_round_by_round():
    lines = {"a": [{"cpu": 1.0}, {"cpu": 4.0}, None], "b": [{"cpu": 2.0}, {"cpu": 4.0}, {"cpu": 1}]}

    assert spread(Results(lines).ratio("a", "b", "cpu")) == "0.750 (0.500 to 1.00)"


def test_a_runner_that_fails_is_a_line_of_the_report():
    broken = Entry("broken", (sys.executable, "-c", "raise SystemExit('no luck')"), ours=False)

    results = race([broken], 2)

    assert results.failures == {"broken": "no luck"}
    assert results.span("broken", "cpu_ms_per_turn") is None


def test_a_goal_says_plainly_that_it_was_missed():
    verdicts = [Goal("text", 0.4, figure).verdict for figure in (0.4, 0.41, None)]

    assert verdicts == ["met", "MISSED", "not measured"]


def test_neighbours_are_left_out_where_they_are_not_run(tmp_path: Path):
    assert Setting(tmp_path).theirs("dp-agent", "dp-agent") == []


def test_a_compiled_wheel_is_found_before_the_sources_and_left_out_where_there_is_none(
    tmp_path: Path,
):
    assert Setting(tmp_path).ours_compiled("compiled") == []
    show = "import json, sys; print(json.dumps({'cpu_ms_per_turn': 1.0, 'path': sys.path}))"
    entry = Entry("compiled", (sys.executable, "-c", show), ours=True, site=tmp_path)

    (line,) = race([entry], 1).lines["compiled"]

    assert line is not None
    assert line["path"][1:3] == [str(tmp_path), str(ROOT)]


def docs() -> dict[str, float]:
    return {path.name: path.stat().st_mtime for path in (ROOT / "bench").glob("*.[mj]*")}


async def test_requests_at_the_listener_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    await listener.measured(1)

    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows if "| ours |" in row] == [
        "`/`",
        "`/me/api/converse`",
    ]


def test_groups_grow_where_the_database_is_full_and_the_disk_is_what_breaks_first() -> None:
    costs, cell = simulate.UnitCosts(), simulate.Cell()
    calm, full = (simulate.database(turns, 24, cell, costs, 0.2) for turns in (2_000, 30_000))
    demand = simulate.Demand(people=10e6, turns=50_000, skills=10, state=2200)

    report = simulate.report(demand, costs, cell)

    assert calm.grouped < 1.5 < 4 < full.grouped
    assert full.served > 5 * calm.served
    assert "**First: what is kept" in report[-1]


def test_the_table_of_workers_sets_the_callers_of_both_ways_side_by_side() -> None:
    cost = workers.CallCost(10.0, 20.0, 5.0)
    costs = {(way, at_once): cost for way in ("HTTP", "NATS") for at_once in workers.AT_ONCE}

    lines = workers.report(costs)

    assert lines[-1] == "| 100 | 10 + 20 | 10 + 20 + 5 | 1.00 (goal: at most 0.35) |"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip")
@pytest.mark.parametrize("fault", ["cut", "oneway", "island"])
def test_what_is_sent_to_a_replica_that_is_cut_off_never_leaves_the_machine(
    tmp_path: Path, fault: NetFault
) -> None:
    network = NetworkNamespace(200, tmp_path / "clock")
    try:
        network.open()
    except RuntimeError as error:
        pytest.skip(f"no network namespaces: {error}")
    try:
        network.fail(fault, Random(1))
        cut_off = way_to(network.host)
        subprocess.run(["ip", "link", "set", "calls200", "down"], check=True)
        without_link = way_to(network.host)
    finally:
        network.aclose()

    assert "dev calls200" in cut_off
    assert "unreachable" in without_link or "No route to host" in without_link


def way_to(address: str) -> str:
    done = subprocess.run(["ip", "route", "get", address], capture_output=True, text=True)
    return done.stdout + done.stderr
