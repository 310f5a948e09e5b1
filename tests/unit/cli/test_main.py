import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from prolocutor.catalog import Catalog
from prolocutor.cli.lazy_group import LazyCommand
from prolocutor.cli.main import prolocutor, run

COMMANDS = Catalog[type[LazyCommand]]("command", "prolocutor.commands")

HEAVY = ["aiohttp", "asyncio", "rich", "sqlite3", "uvicorn", "yaml"]


def leaves(command: click.Command, *names: str) -> Iterator[list[str]]:
    """The words of every command under this one."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, *names, name)
    yield list(names)


WORDS = [words for words in leaves(prolocutor) if words]


def loaded_by(*words: str) -> tuple[set[str], str]:
    """The modules that a command loads, and what it prints."""
    code = (
        f"import sys; from prolocutor.cli.main import run; run({[*words]});"
        "print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stderr.split()), ran.stdout


def test_the_overview_loads_nothing_heavy() -> None:
    loaded, told = loaded_by("--help")

    assert loaded.isdisjoint(HEAVY)
    assert all(f"  {name}" in told for name in COMMANDS.names())


def test_help_on_serving_loads_no_server() -> None:
    loaded, told = loaded_by("serve", "--help")

    assert loaded.isdisjoint({*HEAVY, "prolocutor.assistant"} - {"msgspec"})
    assert "--port" in told


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_is_explained_with_an_example(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status = run([*words, "--help"])

    told = capsys.readouterr().out
    assert status == 0
    assert told.startswith(f"Usage: prolocutor {' '.join(words)} ")
    assert f"prolocutor {' '.join(words)}" in told.partition("Example")[2]


@pytest.mark.parametrize("name", COMMANDS.names())
def test_the_overview_says_of_a_command_what_it_says_itself(name: str) -> None:
    command = prolocutor.get_command(click.Context(prolocutor), name)

    assert command is not None
    assert COMMANDS.load(name).__doc__ == command.short_help


@pytest.mark.parametrize("words", [["nonsense"], ["ask"], ["dialogs", "delete"], ["new", "a", "b"]])
def test_what_is_not_understood_is_a_usage_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert "Usage: prolocutor" in capsys.readouterr().err


def test_our_own_errors_are_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "hi", "--assistant", "nowhere.yaml"]) == 1

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("prolocutor: nowhere.yaml: there is no such file")


@pytest.mark.parametrize(
    ("words", "hint"), [(["ak"], "Did you mean 'ask'?"), (["store", "cop"], "Did you mean 'copy'?")]
)
def test_a_mistyped_command_gets_the_closest_one_suggested(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2

    assert hint in capsys.readouterr().err
