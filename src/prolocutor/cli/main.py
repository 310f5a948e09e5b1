"""The command `prolocutor`; its commands are entry points, each loaded when it is called."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Final

import click

from prolocutor.cli.lazy_group import LazyGroup
from prolocutor.errors import ProlocutorError

FAILED: Final = 1
INTERRUPTED: Final = 130
MOVED: Final = r"prolocutor\.\S+ is now "
"""The beginning of warnings of old names in an assistant's file (`prolocutor/moved.py`)."""


@click.group(
    cls=LazyGroup,
    group="prolocutor.commands",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="prolocutor", message="%(prog)s %(version)s")
def prolocutor() -> None:
    """One assistant out of many black-box conversational agents.

    Without a file of your own, all commands use the demo assistant. Its agents calculate,
    convert, tell the time, look up words and countries, keep lists and chat, all offline.

    \b
    Start here:
      prolocutor ask "what is 15% of 80?"
      prolocutor chat
      prolocutor serve
      prolocutor new my-assistant

    Dialogs are stored in your data folder (~/.local/share/prolocutor on Linux): the demo's in
    prolocutor.db, those of a FILE in a store of its own, unless --store or the file says otherwise.
    `prolocutor COMMAND --help` explains a command.

    \b
    Exit status: 0 if all went well, 1 if not (with the reason on stderr), 2 if the command was
    not understood.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 after success, 1 after an error, 2 if not understood."""
    warnings.filterwarnings("default", MOVED, DeprecationWarning)
    warnings.formatwarning = lambda message, *_, **__: f"prolocutor: {message}\n"
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
