"""The command line in the process of the tests, without a start of Python for each command."""

import io
import os
import subprocess
import sys
from unittest.mock import patch

from prolocutor.cli.main import run
from tests.acceptance.commands import Commands


class CommandsInProcess(Commands):
    """`prolocutor` with a data folder of its own; only `serve` has a process of its own."""

    def run(self, *words: object, said: str = "") -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        told, complained, known = _text_stream(), _text_stream(), set(sys.modules)
        with (
            patch.dict(os.environ, self._environ),
            patch.multiple(sys, stdin=_text_stream(said), stdout=told, stderr=complained),
        ):
            status = run([*map(str, words)])
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(self.folder.parent)):
                del sys.modules[name]  # the next command may find other code there
        return subprocess.CompletedProcess(words, status, _written(told), _written(complained))


def _text_stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", newline="")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()
