"""The command `prolocutor`: the table of its commands, each loaded when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from prolocutor.cli.lazy_group import LazyGroup
from prolocutor.errors import ProlocutorError

COMMANDS: Final = {
    "ask": ("prolocutor.cli.ask:ask", "Ask one question and print the reply."),
    "chat": ("prolocutor.cli.chat:chat", "Talk to an assistant in the terminal."),
    "serve": ("prolocutor.cli.serve:serve", "Open an assistant's doors to the network."),
    "worker": ("prolocutor.plugins.nats.command:worker", "Run services as workers behind NATS."),
    "mcp": (
        "prolocutor.plugins.mcp.command:mcp",
        "Offer an assistant to an MCP client, over stdio.",
    ),
    "check": ("prolocutor.cli.check:check", "Find what is wrong with a file, or show its plan."),
    "new": ("prolocutor.cli.new:new", "Write a small assistant of your own."),
    "add": ("prolocutor.cli.add:add", "Add what is behind a URL to an assistant's file."),
    "replicas": (
        "prolocutor.cli.replicas:replicas",
        "List the processes that share a store, and workers.",
    ),
    "dialogs": ("prolocutor.cli.dialogs:dialogs", "List, show, export, rate and delete dialogs."),
    "keys": ("prolocutor.cli.keys:keys", "Make, list and revoke keys of operators and tokens."),
    "audit": ("prolocutor.cli.audit:audit", "List what operators did."),
    "store": ("prolocutor.cli.store:store", "Migrate, check and copy stores."),
    "evaluate": (
        "prolocutor.plugins.evaluation.commands.evaluate:evaluate",
        "Measure assistants and agents on data.",
    ),
    "train": (
        "prolocutor.plugins.pairing.commands.train:train",
        "Train a router or a ranker on labels.",
    ),
    "overlap": (
        "prolocutor.plugins.pairing.commands.overlap:overlap",
        "Find agents that answer the same questions.",
    ),
    "replay": (
        "prolocutor.plugins.evaluation.commands.replay:replay",
        "Send stored dialogs to a changed assistant.",
    ),
    "convert": (
        "prolocutor.plugins.deeppavlov.convert:convert",
        "Write DeepPavlov Agent's pipeline file as YAML.",
    ),
    "data": (
        "prolocutor.plugins.evaluation.commands.data:data",
        "Show, count, check and convert data sets of dialogs.",
    ),
}
"""Name -> the command and its short help; the overview imports no command."""

FAILED: Final = 1
INTERRUPTED: Final = 130


@click.group(
    cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="prolocutor", message="%(prog)s %(version)s")
def prolocutor() -> None:
    """One assistant out of many black-box conversational agents.

    Without a file of your own, all commands use the demo assistant: thirteen agents that
    calculate, convert, tell the time, look up words and countries, keep lists and chat. It works
    offline.

    \b
    Start here:
      prolocutor ask "what is 15% of 80?"
      prolocutor chat
      prolocutor serve
      prolocutor new my-assistant

    Dialogs are stored in prolocutor.db in your data folder (~/.local/share/prolocutor on Linux),
    unless --store or the assistant's file says otherwise. `prolocutor COMMAND --help` explains a
    command.

    \b
    Exit status: 0 if all went well, 1 if not (with the reason on stderr), 2 if the command was
    not understood.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 our own errors in one line, 2 not understood."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        status: Any = prolocutor.main(arguments, prog_name="prolocutor", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ProlocutorError as error:
        click.echo(f"prolocutor: {error}", err=True)
        return FAILED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"prolocutor: {place}{error.strerror or error}", err=True)
        return FAILED
    return status if isinstance(status, int) else 0
