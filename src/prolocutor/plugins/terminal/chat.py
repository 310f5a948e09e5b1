"""`prolocutor ask` and `prolocutor chat`: one question, or a talk in the terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.text import Text

from prolocutor.assistant.runner import LoopThread, run
from prolocutor.cli.options import STORE_OPTION, USER_OPTION, assistant_option, json_option
from prolocutor.cli.output import write_json
from prolocutor.cli.turn_output import TurnOutput
from prolocutor.config.store_location import made_data_folder
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.terminal.assistant_access import AssistantAccess, open_access
from prolocutor.plugins.terminal.turn_summary import show_summary, summary_lines

PROMPT: Final = "> "
HISTORY: Final = "chat_history"
HISTORY_LENGTH: Final = 1000

HELP: Final = """\
/who   who was asked last, who answered, how sure, how long it took, what failed
/new   begin a new dialog; your list, timers and the like stay
/help  this
/quit  end; so does Ctrl-D"""


@click.command(short_help="Ask a question and print the reply.")
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
    """Ask a question and print the reply.

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
    """Ask, and print the reply before the assistant is closed, which may take a while."""
    async with open_access("ask", file, store) as assistant:
        turn = await assistant.say(text, user)
        if json_file is None:
            click.echo(turn.spoken)
        else:
            write_json(json_file, turn)


@click.command(short_help="Talk to an assistant in the terminal.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@USER_OPTION
@STORE_OPTION
def chat(file: Path | None, user: str, store: str | None) -> int:
    """Talk to the demo assistant, or to the assistant of FILE.

    The history of your inputs is in your data folder: the arrow keys bring it back. While
    `prolocutor serve` owns the store, you talk to the assistant that it serves. Input may also come
    from a pipe, a line each; then only the replies are printed, and the exit status is 1 if an
    input had no reply.

    \b
    In the chat:
      /who   who was asked last, who answered, how sure, how long it took, what failed
      /new   begin a new dialog
      /help  the list of these
      /quit  end

    \b
    Examples:
      prolocutor chat
      prolocutor chat my-assistant/assistant.yaml --user ann
      printf 'flip a coin\\n/who\\n' | prolocutor chat --store memory:

    """
    with LoopThread(open_access("chat", file, store), "assistant") as thread:
        talk = ChatSession(thread, user, is_terminal=sys.stdin.isatty() and sys.stdout.isatty())
        inputs = _read_lines() if talk.is_terminal else (line.strip() for line in sys.stdin)
        talk.run(inputs)
    return 1 if talk.failed and not talk.is_terminal else 0


class ChatSession:
    """A user's chat with an assistant, line by line."""

    def __init__(
        self, thread: LoopThread[AssistantAccess], user: str, *, is_terminal: bool = False
    ) -> None:
        self.is_terminal = is_terminal
        self.failed = False
        self._thread = thread
        self._user = user
        self._last: TurnOutput | None = None
        self._console = Console(highlight=False, soft_wrap=True)

    def run(self, inputs: Iterator[str]) -> None:
        """Answer the inputs in sequence, until their end or /quit."""
        if self.is_terminal:
            self._console.print(Text("Say something; /help tells more, /quit ends.", style="dim"))
        for text in inputs:
            if text == "/quit":
                return
            if not text:
                continue
            try:
                self._take(text)
            except KeyboardInterrupt:
                self._console.print(Text("(not waited for)", style="dim"))
            except ProlocutorError as error:
                self.failed = True
                click.echo(f"prolocutor: {error}", err=True)

    def _take(self, text: str) -> None:
        if text == "/who":
            self._who()
        elif text == "/new":
            self._thread.call(self._thread.opened.close_dialog(self._user))
            self._last = None
            self._print("A new dialog.")
        elif text == "/help":
            self._print(HELP)
        elif text.startswith("/") and " " not in text:
            self._print(f"There is no {text} here.\n{HELP}")
        else:
            self._last = self._thread.call(self._thread.opened.say(text, self._user))
            self._print(self._last.spoken)

    def _who(self) -> None:
        if self._last is None:
            self._print("Nobody was asked yet.")
        elif self.is_terminal:
            show_summary(self._last, self._console)
        else:
            self._print("\n".join(summary_lines(self._last)))

    def _print(self, text: str) -> None:
        click.echo(text)


def _read_lines() -> Iterator[str]:
    """Yield the typed lines, until Ctrl-D or Ctrl-C, with the history of earlier talks."""
    with _history(made_data_folder() / HISTORY):
        while True:
            try:
                yield input(PROMPT).strip()
            except (EOFError, KeyboardInterrupt):
                click.echo()
                return


@contextlib.contextmanager
def _history(file: Path) -> Iterator[None]:
    try:
        import readline
    except ImportError:
        yield
        return
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(HISTORY_LENGTH)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.touch(mode=0o600)
            readline.write_history_file(file)
