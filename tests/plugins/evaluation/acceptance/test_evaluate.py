"""`prolocutor evaluate` and `replay` as a person uses them."""

import json
import os
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prolocutor.plugins.evaluation import evaluate
from tests.acceptance.commands import PATIENCE, PROGRAM, Commands

BBAI = Path(__file__).parents[5] / "shared" / "data" / "bbai"
AGENTS = """
import os, random


class Guesser:
    def __init__(self, opt):
        self.opt = opt

    def observe(self, observation):
        self.said = observation["text"]
        return observation

    def act(self):
        if fifo := os.environ.get("HOLD"):
            self.hold(fifo)
        if "7" in self.said:
            raise ValueError("no sevens")
        return {"id": "Guesser", "text": random.choice(["odd", "even"])}

    def hold(self, fifo):
        # Whoever has the other end of the pipe sees how far we are, and may kill us then.
        with open(fifo, "a") as told:
            told.write(self.said + "\\n")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with data and agents."""
    place = tmp_path / "work"
    place.mkdir()
    (place / "my_agents.py").write_text(AGENTS)
    write_data(place / "numbers.jsonl", 200)
    monkeypatch.chdir(place)
    return place


def write_data(file: Path, number: int) -> None:
    lines = [
        {
            "text": f"{n} is",
            "labels": ["odd" if n % 2 else "even"],
            "domain": "small" if n < number / 2 else "large",
            "episode_done": n % 4 == 3,
        }
        for n in range(number)
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def rows_of(run: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (run / "rows.jsonl").read_text().splitlines()]
    for row in rows:
        del row["seconds"]
    return rows


def report_of(run: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((run / "report.json").read_text())
    for name in [name for name in report["figures"] if name.startswith("latency")]:
        del report["figures"][name]
    return report


def run_of(run: Path) -> dict[str, Any]:
    description: dict[str, Any] = json.loads((run / "run.json").read_text())
    return description["configuration"] | description["options"]


RUN = ["evaluate", "run", "my_agents:Guesser", "--data", "jsonl:numbers.jsonl"]


def test_a_run_is_kept_reported_and_found_again(commands: Commands, folder: Path) -> None:
    first = commands.output(*RUN)
    again = commands.output(*RUN)

    assert first == again
    assert "200 examples in 50 episodes, 38 failed" in first
    assert "accuracy" in first
    run = Path(first.splitlines()[-1].removeprefix("kept in "))
    assert run.parent == Path("runs")
    assert len(rows_of(run)) == 200
    report = json.loads((run / "report.json").read_text())
    assert report["metrics"]["accuracy"]["count"] == 200
    assert list(report["groups"]) == ["large", "small"]
    kept = json.loads((run / "run.json").read_text())
    assert kept["complete"] is True
    assert kept["configuration"]["seed"] == 42
    assert kept["configuration"]["data content"]
    assert kept["versions"]["python"]


@pytest.mark.parametrize(
    ("stop", "status", "complaint", "after", "concurrency"),
    [
        (signal.SIGKILL, -9, "", 57, 1),
        (
            signal.SIGINT,
            130,
            "\nended: interrupted; the same command goes on from here\n",
            130,
            2,
        ),
    ],
)
def test_a_run_that_was_ended_goes_on_and_is_as_if_it_never_was(
    stop: int, status: int, complaint: str, after: int, concurrency: int,
    commands: Commands, folder: Path,
) -> None:  # fmt: skip
    commands.output(*RUN, "--out", "whole")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDWR)
    ended = subprocess.Popen(
        [PROGRAM, *RUN, "--out", "ended", "--concurrency", str(concurrency)],
        env={**os.environ, "HOLD": str(pipe)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen = b""
    while seen.count(b"\n") < after:
        ready, _, _ = select.select([reading], [], [], PATIENCE)
        assert ready
        seen += os.read(reading, 64)
    ended.send_signal(stop)
    assert ended.communicate(timeout=PATIENCE)[1] == complaint
    assert ended.returncode == status
    os.close(reading)

    commands.output(*RUN, "--out", "ended")

    assert [row["n"] for row in rows_of(folder / "ended")] == list(range(200))
    if concurrency == 1:  # else agents share one generator, and who draws first is up to threads
        assert rows_of(folder / "ended") == rows_of(folder / "whole")


def test_a_run_under_its_bound_fails(commands: Commands, folder: Path) -> None:
    run = ["evaluate", "run", "repeat_label", "--data", "jsonl:numbers.jsonl"]

    assert commands.run(*run, "--fail-under", "accuracy=1").returncode == 0
    under = commands.run(*run, "--fail-under", "accuracy=1", "--fail-under", "small/f1=1.5")
    assert under.returncode == 1
    assert under.stderr == "small/f1 is 1, under 1.5\n"
    assert commands.run(*run, "--fail-under", "exs=200").returncode == 0


@pytest.mark.parametrize(
    ("agent", "name"),
    [("repeat_label", "blue"), ("repeat_label", "small/acuracy"), ("my_agents:Guesser", "bleu-1")],
)
def test_a_bound_on_what_the_run_cannot_have_is_refused_before_it(
    agent: str, name: str, commands: Commands, folder: Path
) -> None:
    run = ["evaluate", "run", agent, "--data", "jsonl:numbers.jsonl", "--out", "run"]

    refused = commands.run(*run, "--fail-under", f"{name}=1")

    assert refused.returncode == 2
    assert f"the run will have no metric '{name}'" in refused.stderr
    assert not Path("run").exists()


def test_an_agents_own_metric_may_have_a_bound(commands: Commands, folder: Path) -> None:
    refused = commands.run(*RUN, "--fail-under", "politeness=1")

    assert "the run has no metric 'politeness'" in refused.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["nobody", "--data", "jsonl:numbers.jsonl"], "nobody: this is neither an assistant's"),
        (["my_agents:No", "--data", "jsonl:numbers.jsonl"], "module 'my_agents' has no 'No'"),
        (["repeat_label", "--data", "jsonl:nowhere.jsonl"], "nowhere.jsonl"),
        (["repeat_label", "--data", "bogus:numbers.jsonl"], "bogus"),
        (
            ["repeat_label", "--data", "jsonl:numbers.jsonl", "--metrics", "acuracy"],
            "there is no metric 'acuracy'; did you mean 'accuracy'?",
        ),
    ],
)
def test_what_cannot_be_run_is_one_clear_line(
    words: list[str], what: str, commands: Commands, folder: Path
) -> None:
    assert what in commands.complaint("evaluate", "run", *words)


def test_runs_are_rescored_compared_and_written_as_a_page(commands: Commands, folder: Path) -> None:
    commands.output(*RUN, "--out", "before")
    commands.output(
        "evaluate", "run", "repeat_label", "--data", "jsonl:numbers.jsonl", "--out", "after"
    )

    (folder / "mine.py").write_text("def size(guess, labels):\n    return len(guess)\n")
    rescored = commands.output("evaluate", "rescore", "before", "--metrics", "bleu,mine:size")
    assert {"bleu-1", "size"} < {line.split()[0] for line in rescored.splitlines()}
    compared = json.loads(commands.output("evaluate", "compare", "before", "after", "--json"))
    accuracy = compared["metrics"][0]
    assert compared["pairs"] == 200
    assert accuracy["metric"] == "accuracy"
    assert accuracy["second"] == 1.0
    assert accuracy["worse"] == 0
    assert len(compared["flips"]) == accuracy["better"] > 38
    assert "won, 0 lost" in commands.output("evaluate", "compare", "before", "after")
    assert commands.output("evaluate", "report", "before") == "before/report.html"
    assert "accuracy" in (folder / "before" / "report.html").read_text()
    assert "nowhere: there is no run here" in commands.complaint("evaluate", "report", "nowhere")


def test_an_assistant_is_evaluated_and_each_episode_is_a_dialog(
    commands: Commands, own: Path, folder: Path
) -> None:
    (folder / "talk.jsonl").write_text(
        '{"text": "hello", "labels": ["hi"], "episode_done": false}\n'
        '{"text": "say abc backwards", "labels": ["cba"]}\n'
    )

    commands.output(
        "evaluate", "run", own, "--data", "jsonl:talk.jsonl", "--out", "run", "--repeat", "2"
    )

    rows = rows_of(folder / "run")
    assert [row["by"] for row in rows] == ["greeter", "mirror"] * 2
    assert [row["act"]["text"] for row in rows][1::2] == ["cba", "cba"]
    assert all(row["calls"] >= 2 for row in rows)
    assert not commands.store.parent.exists()


def test_an_agent_gives_the_same_rows_and_scores_from_python(
    commands: Commands, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    commands.output(*RUN, "--metrics", "f1,bleu", "--out", "by_command")

    found = evaluate(
        "my_agents:Guesser", "jsonl:numbers.jsonl", metrics="f1,bleu", out="from_python"
    )

    assert rows_of(folder / "from_python") == rows_of(folder / "by_command")
    assert report_of(folder / "from_python") == report_of(folder / "by_command")
    assert run_of(folder / "from_python") == run_of(folder / "by_command")
    assert found.report.failed == 38


@pytest.mark.parametrize(
    ("arguments", "answer"), [("self", "nothing"), ("self, opt, shared=None", "hello")]
)
def test_an_agent_gets_its_options_if_it_takes_any(
    arguments: str, answer: str, commands: Commands, folder: Path
) -> None:
    lines = [
        "class Own:",
        f"    def __init__({arguments}):",
        "        self.options = locals().get('opt', {})",
        "    def observe(self, observation):",
        "        return observation",
        "    def act(self):",
        "        return {'text': self.options.get('greeting', 'nothing')}",
    ]
    (folder / "own.py").write_text("\n".join(lines))

    commands.output(
        "evaluate", "run", "own:Own", "--data", "jsonl:numbers.jsonl", "--limit", "1",
        "--opt", "greeting=hello", "--out", "run",
    )  # fmt: skip

    assert rows_of(folder / "run")[0]["act"]["text"] == answer


def test_what_people_said_is_data_too(commands: Commands, own: Path, folder: Path) -> None:
    words = ["chat", own, "--user", "ann", "--store", commands.store]
    commands.output(*words, said="hello\nsay abc backwards\n")

    told = commands.output("evaluate", "run", own, "--data", f"store:{commands.store}")

    assert told.splitlines()[1] == "2 examples in 1 episode"
    assert "accuracy  " in told
    assert "1.0000" in next(line for line in told.splitlines() if line.startswith("accuracy  "))


def test_several_data_sets_are_reported_each_for_itself(commands: Commands, folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.jsonl").write_text(f'{{"text": "{name}", "labels": ["one"]}}\n' * 2)

    with (folder / "two.jsonl").open("a") as more:
        more.write('{"text": "two", "labels": ["one"]}\n' * 4)
    run = ["evaluate", "run", "repeat_query", "--data", "jsonl:one.jsonl", "--data",
           "jsonl:two.jsonl", "--metrics", "f1", "--all", "--out", "run"]  # fmt: skip

    macro = figures_of(commands.output(*run, "--fail-under", "one/accuracy=1"))
    micro = figures_of(commands.output(*run, "--aggregate", "micro"))

    assert macro["accuracy"] == "0.5000"
    assert micro["accuracy"] == "0.2500"
    assert macro["one/accuracy"] == "1.0000"
    assert macro["two/accuracy"] == "0.0000"
    assert macro["exs"] == "8"
    assert macro["one/exs"] == "2"
    assert macro["two/exs"] == "6"
    assert figures_of(commands.output("evaluate", "rescore", "run", "--all")) == micro


def figures_of(told: str) -> dict[str, str]:
    return {line.split()[0]: line.split()[1] for line in told.splitlines() if "  " in line}


def test_the_questions_of_bbai_are_data(commands: Commands, folder: Path) -> None:
    if not BBAI.is_dir():
        pytest.skip("BBAI data (../shared/data/bbai is absent)")

    told = commands.output(
        "evaluate", "run", "random_candidate", "--data", f"bbai:{BBAI}", "--limit", "200"
    )

    assert "200 examples in 200 episodes" in told
    assert "accuracy by group: " in told


def test_dialogs_are_replayed_against_a_changed_assistant(
    commands: Commands, own: Path, folder: Path
) -> None:
    words = ["chat", own, "--user", "ann", "--store", commands.store]
    commands.output(*words, said="hello\nsay abc backwards\n")
    commands.output("dialogs", "export", "--out", "all.jsonl")

    same = json.loads(commands.output("replay", "all.jsonl", "--assistant", own, "--json"))
    assert same["dialogs"] == 1
    assert same["turns"] == 2
    assert same["counts"]["same"] == 2

    text = own.read_text()
    skills = own.parent / "skills.py"
    assert skills.exists() or "mirror" in text
    for file in own.parent.glob("*.py"):
        file.write_text(file.read_text().replace("[::-1]", "[::-1].upper()"))
    shown = commands.output("replay", commands.store, "--assistant", own)

    assert shown.splitlines()[-1] == (
        "2 turns in 1 dialog: 1 the same, 1 another text, 0 another skill, the same text, "
        "0 another skill and text, 0 failed"
    )
    assert "     before  mirror (0.95): cba" in shown
    assert "     after   mirror (0.95): CBA" in shown


@pytest.mark.long
def test_ten_thousand_examples_take_little(commands: Commands, folder: Path) -> None:
    write_data(folder / "many.jsonl", 10_000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)

    commands.output(
        "evaluate", "run", "repeat_label", "--data", "jsonl:many.jsonl", "--metrics", "f1"
    )

    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5


@pytest.mark.long
def test_memory_does_not_grow_with_the_examples(commands: Commands, folder: Path) -> None:
    def most(number: int) -> float:
        write_data(folder / f"{number}.jsonl", number)
        code = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
            "stdout=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
        )
        command = ["evaluate", "run", "repeat_label", "--data", f"jsonl:{number}.jsonl"]
        words = [sys.executable, "-c", code, str(PROGRAM), *command, "--metrics", "f1"]
        return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    assert most(20_000) - most(1_000) < 20  # MiB
