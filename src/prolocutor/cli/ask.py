"""`prolocutor ask`: one question, one reply."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from prolocutor.assistant.runner import run
from prolocutor.cli.assistant_access import open_access
from prolocutor.cli.options import STORE_OPTION, USER_OPTION, assistant_option, json_option
from prolocutor.cli.output import write_json


@click.command(short_help="Ask one question and print the reply.")
@click.argument("text")
@assistant_option(
    "The assistant's YAML file, or the folder with its assistant.yaml.  [default: the demo]", "file"
)
@USER_OPTION
@STORE_OPTION
@json_option(
    "Write the whole turn as JSON instead, to FILE or to stdout: the reply, all hypotheses, "
    "annotations, and the record of who was asked and what failed."
)
def ask(text: str, file: Path | None, user: str, store: str | None, json_file: str | None) -> None:
    """Ask one question and print the reply.

    TEXT is your input; - reads it from stdin. Only the reply goes to stdout. The dialog is stored:
    the next question goes on in it.

    While `prolocutor serve` owns the store, the question goes to the assistant that it serves.

    \b
    Examples:
      prolocutor ask "what is 15% of 80?"
      prolocutor ask "hello" --assistant my-assistant/assistant.yaml
      prolocutor ask "flip a coin" --json | jq .record.asked
      prolocutor ask "add milk to my list" --user ann --json turn.json
    """
    if text == "-":
        text = sys.stdin.read().strip()
    run(_ask(text, file, user, store, json_file))


async def _ask(
    text: str, file: Path | None, user: str, store: str | None, json_file: str | None
) -> None:
    """Ask, and print before anything is closed, which may take a while."""
    async with open_access("ask", file, store) as assistant:
        turn = await assistant.say(text, user)
        if json_file is None:
            click.echo(turn.spoken)
        else:
            write_json(json_file, turn)
