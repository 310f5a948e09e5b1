"""What a check says of a file that works."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from prolocutor.cli.check import check as check_command
from prolocutor.config.file_check import CheckReport, check

FOLDER = Path(__file__).parents[2] / "data" / "config"


def test_a_plan_is_a_tree_of_levels_with_its_critical_path(tmp_path: Path) -> None:
    report = _check(
        tmp_path,
        "deadline: 9\n"
        "annotators:\n  spelling: {call: 'json:dumps', timeout: 1}\n  mood: {call: 'http://h/m'}\n"
        "skills:\n  jokes: http://h/j\n  books: {call: http://h/b, after: [mood], timeout: 5}\n"
        "response_selector: {call: http://h/r, requires: books}\n",
    )

    assert report.lines()[:-1] == [
        f"{tmp_path / 'assistant.yaml'}: assistant, 5 services in 3 levels, replies within 9 s",
        "",
        "level 1",
        "├─ annotators.spelling                     1 s   starts at once",
        "└─ annotators.mood                         2 s * starts at once",
        "level 2",
        "├─ skills.jokes                            2 s   after annotators",
        "└─ skills.books                            5 s * after mood",
        "level 3",
        "└─ response_selector.response_selector     2 s * after skills, needs books",
        "",
        "critical path (*): 9 s of time-outs: mood > books > response_selector",
    ]


def test_the_full_file_has_no_fault() -> None:
    report = check(FOLDER / "full.yaml", environ={})

    assert report.ok
    assert [planned.name for planned in report.levels()[0]] == [
        "spelling",
        "tone_before",
        "emotion",
    ]
    assert report.services[-1].stage == "response_annotators"
    assert report.last_chance == "last_chance"


def test_time_outs_beyond_the_deadline_are_a_warning_that_names_the_services(
    tmp_path: Path,
) -> None:
    skill = "skills: {a: http://h/a}\n"

    enough = _check(tmp_path, f"deadline: 4\n{skill}response_selector: http://h/\n")
    short = _check(tmp_path, f"deadline: 3\n{skill}response_selector: http://h/\n")

    what = (
        "time-outs on the critical path add up to 4 s, the deadline is 3 s"
        " (a 2 s, response_selector 2 s); what is late is left out of the reply"
    )
    assert _what(enough) == []
    assert _what(short) == [(1, "deadline", what)]


def test_an_annotator_that_may_be_cut_off_is_a_warning(tmp_path: Path) -> None:
    report = _check(
        tmp_path,
        "deadline: 9\nannotators: {a: {call: http://h, timeout: 5}}\nskills: {b: http://h}\n",
    )

    what = (
        "it may take until 5 s into the turn, but an annotator counts as failed at 4 s"
        " (half of deadline - reserve)"
    )
    assert _what(report) == [(2, "annotators.a.timeout", what)]


def test_a_service_that_nothing_waits_for_is_a_warning(tmp_path: Path) -> None:
    report = _check(
        tmp_path, "annotators: {a: http://h}\nskills:\n  b: {call: http://h, after: []}\n"
    )

    assert _what(report) == [
        (1, "annotators.a", "no service waits for it, so its result may come too late to be used")
    ]


@pytest.mark.parametrize(
    ("text", "line", "key", "what"),
    [
        ("skills:\n  a: {call: http://h, retries: 4}\n", 2, "skills.a.retries", "5 attempts share"),
        (
            "skills:\n  a: {call: http://h, rewrites: true}\n",
            2,
            "skills.a.rewrites",
            "no annotator is called follow_up",
        ),
        ("skills: {a: http://h}\nhost: 0.0.0.0\n", 2, "host", "nobody gets in without auth.keys"),
        ("skills:\n  a: {call: http://h, icon: a.png}\n", 2, "skills.a.icon", "no file a.png"),
        (
            "skills: {a: http://h}\nprocesses:\n  b: {run: x}\n",
            3,
            "processes.b",
            "no service calls this process",
        ),
    ],
)
def test_doubts_are_warnings_at_their_place(
    tmp_path: Path, text: str, line: int, key: str, what: str
) -> None:
    (found,) = _what(_check(tmp_path, text))

    assert found[:2] == (line, key)
    assert what in found[2]


def test_plain_functions_in_threads_are_a_hint(tmp_path: Path) -> None:
    report = _check(
        tmp_path,
        "skills:\n  a: json:dumps\n  b: {call: 'json:dumps', inline: true}\n"
        "  c: {call: 'json:dumps', process: true}\n  d: asyncio:sleep\n",
    )

    assert [hint.split(":")[0] for hint in report.hints] == ["a"]


def test_functions_are_found_in_the_folder_of_the_file_and_the_path_is_left_as_it_was(
    tmp_path: Path,
) -> None:
    (tmp_path / "found_beside_the_file.py").write_text("async def answer(request): ...\n")
    before = list(sys.path)

    report = _check(tmp_path, "skills: {a: 'found_beside_the_file:answer'}\n")

    assert report.ok
    assert sys.path == before


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("import sys\nsys.exit(3)\n", "failed: SystemExit: 3"),
        ("raise ValueError('oh')\n", "failed: ValueError: oh"),
        ("def f(:\n", "invalid syntax"),
        ("f = 7\n", "which cannot be called"),
        ("import a_module_nobody_has\n", "imports 'a_module_nobody_has', which is not installed"),
    ],
)
def test_a_module_that_cannot_be_imported_is_a_fault(tmp_path: Path, body: str, what: str) -> None:
    name = f"broken_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(body)

    (fault,) = _check(tmp_path, f"skills:\n  a:\n    call: {name}:f\n").faults

    assert fault.line == 3
    assert fault.key == "skills.a.call"
    assert what in fault.what


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "skills:\n  a: {call: x, connector: htpt}\n",
            (2, "skills.a.connector", "there is no connector 'htpt'; did you mean 'http'?"),
        ),
        (
            "skills:\n  a: {connector: openai_chat, call: {url: 'http://h/v1', modle: m}}\n",
            (
                2,
                "skills.a.call.modle",
                "unknown key",
            ),
        ),
        (
            "skills:\n  a: {connector: rasa, call: {url: 'http://h', confidence: high}}\n",
            (
                2,
                "skills.a.call.confidence",
                "expected a number, found 'high'",
            ),
        ),
        (
            "skills:\n  a: {connector: a2a, call: {url: 'http://h', versoin: '1.0'}}\n",
            (
                2,
                "skills.a.call.versoin",
                "unknown key",
            ),
        ),
        (
            "skills:\n  a: {connector: rasa, call: 'localhost:5005'}\n",
            (
                2,
                "skills.a.call",
                "'localhost:5005' is not a URL: write it as http://host:port/path",
            ),
        ),
        (
            "skills:\n  a: {connector: openai_chat, call: 'openai:gpt-4o'}\n",
            (2, "skills.a.call", "a chat endpoint needs a model: call: {url: ..., model: ...}"),
        ),
        (
            "skills: {a: http://h}\ndoors: {mcp: {origins: 5}}\n",
            (2, "doors.mcp.origins", "expected a list, found 5"),
        ),
        (
            "skills:\n  a: {connector: openai_chat, call: {model: m}}\n",
            (2, "skills.a.call", "the key url is missing"),
        ),
        (
            "skills: {a: http://h}\nstore: sqlit:///x.db\n",
            (2, "store", "there is no store 'sqlit'; did you mean 'sqlite'?"),
        ),
    ],
)
def test_a_plug_in_that_is_not_there_is_a_fault(
    tmp_path: Path, text: str, fault: tuple[int, str, str]
) -> None:
    report = _check(tmp_path, text)

    assert [(found.line, found.key, found.what) for found in report.faults] == [fault]


def test_an_unknown_formatter_is_a_fault(tmp_path: Path) -> None:
    report = _check(tmp_path, "skills:\n  a: {call: http://h, formatter: json:dump_s}\n")

    assert [(fault.line, fault.key) for fault in report.faults] == [(2, "skills.a.formatter")]
    assert "did you mean 'dumps'?" in report.faults[0].what


def test_it_is_told_that_strangers_end_the_trust_in_this_machine(tmp_path: Path) -> None:
    report = _check(tmp_path, "auth: {anonymous: true}\nskills: {b: http://h}\n")
    with_key = _check(tmp_path, "auth: {anonymous: true, keys: [k]}\nskills: {b: http://h}\n")

    ((line, key, what),) = _what(report)
    assert line == 1
    assert key == "auth.anonymous"
    assert "serve prints a key for each run" in what
    assert _what(with_key) == []


def _check(folder: Path, text: str) -> CheckReport:
    file = folder / "assistant.yaml"
    file.write_text(text, encoding="utf-8")
    return check(file, environ={})


def _what(report: CheckReport) -> list[tuple[int | None, str | None, str]]:
    assert report.faults == ()
    return [(warning.line, warning.key, warning.what) for warning in report.warnings]


def test_a_door_that_is_not_there_is_a_fault_at_its_line(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text("skills: {echo: {call: builtins:repr}}\ndoors: [deeppavlof]\n")

    (fault,) = check(file).faults

    assert fault.line == 2
    assert fault.key == "doors[0]"
    assert "did you mean 'deeppavlov'?" in fault.what


def test_a_store_whose_path_would_be_taken_for_a_host_is_a_fault(tmp_path: Path) -> None:
    report = _check(tmp_path, "store: sqlite://dialogs.db\nskills: {a: 'json:dumps'}\n")

    [fault] = report.faults
    assert str(fault).endswith(
        "store: sqlite://dialogs.db names a host; write sqlite:///dialogs.db"
    )


def test_the_command_checks_the_assistant_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assistant.yaml").write_text("skills: {a: 'json:dumps'}\n")
    monkeypatch.chdir(tmp_path)

    ran = CliRunner().invoke(check_command, [])

    assert ran.output.startswith("assistant.yaml: assistant, 1 service in 1 level")
