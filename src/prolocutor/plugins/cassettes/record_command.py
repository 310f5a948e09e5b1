"""`prolocutor record`: runs another command, and records its conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from prolocutor.assistant.call_recording import record_calls
from prolocutor.cli.main import prolocutor
from prolocutor.plugins.cassettes.recording import CassetteRecorder

_COMMANDS: Final = ("ask", "chat", "serve")


@click.command(short_help="Record the conversations of another command as tests.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--anew", is_flag=True, help="Write files anew that exist.")
def record(file: Path, command: tuple[str, ...], anew: bool) -> int:
    """Record every conversation that COMMAND (serve, chat or ask) has.

    Every call of an agent is recorded with request, reply, streamed words and timing, whatever it
    is spoken to by; secrets are left out by their names and values. `prolocutor test FILE` then
    has the same conversation without any agent.

    FILE gets the first conversation, the next ones go beside it (FILE-2); a folder gets all. The
    command begins with an empty store, unless it has a --store of its own.

    \b
    Examples:
      prolocutor record tests/tea.cassette -- serve assistant.yaml
      prolocutor record tests/ -- chat assistant.yaml
      prolocutor record tea.cassette -- ask "green tea?" --assistant assistant.yaml
    """
    words = list(command[1:] if command[0] == "prolocutor" else command)
    if not words or words[0] not in _COMMANDS:
        said = words[0] if words else "nothing"
        what = f"{said!r} has no conversations; record one of {', '.join(_COMMANDS)}"
        raise click.UsageError(what)
    if not any(word == "--store" or word.startswith("--store=") for word in words):
        words += ["--store", "memory:"]
    recorder = CassetteRecorder(file, anew=anew)
    try:
        with record_calls(recorder):
            status = prolocutor.main(words, prog_name="prolocutor", standalone_mode=False)
    finally:
        for path in recorder.written:
            click.echo(f"recorded {path}", err=True)
        if not recorder.written:
            click.echo("nothing was said, so nothing is recorded", err=True)
    return status if isinstance(status, int) else 0
