"""The child process of a service: `python -m prolocutor.connectors.parts.process_child`.

Requests come in as JSON lines on stdin, answers go out as JSON lines on stdout, in sequence. A
request with a `~` in front gets lines of words before its answer. `ProcessConnector` is the other
end and starts this program.
"""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, BinaryIO, Final

from prolocutor.dialog.generated_words import collect_reply, generates
from prolocutor.dialog.plain import check, decode, encode
from prolocutor.dialog.turn_request import takes_requests, taking_dicts
from prolocutor.errors import BadReply
from prolocutor.functions import text_and_place

PR_SET_PDEATHSIG: Final = 1
HEARD: Final = b"~"
"""The prefix of requests with listeners for words."""


def main(dotted: str, parent: str, form: str) -> None:
    """Answer the lines on stdin with the function until the parent is gone."""
    _die_after_parent(int(parent))
    _restore_signals()
    requests, answers = _take_stdin(), _take_stdout()
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(requests, lines), daemon=True).start()
    try:
        target = pkgutil.resolve_name(dotted)
        if not callable(target):
            raise TypeError(f"a {type(target).__name__} cannot be called")
    except BaseException as error:
        _write(answers, _failure_line(error))
        return
    speaks = form != "batched" and (generates(target) or takes_requests(target))
    target = collect_reply(target) if generates(target) else taking_dicts(target)
    heard = partial(target, say=partial(_say, answers)) if speaks else target
    _write(answers, b'{"reply":true}')
    answer = _answer_batch if form == "batched" else _answer
    with asyncio.Runner() as runner:
        while True:
            line = lines.get()
            asked = heard if line.startswith(HEARD) else target
            _write(answers, answer(asked, decode(line.removeprefix(HEARD)), runner))


def _die_after_parent(parent: int) -> None:
    """Have the kernel kill this process with its parent (Linux; elsewhere stdin's end does)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _restore_signals() -> None:
    """Restore inherited signal handling, such as a background server's ignored SIGINT."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _take_stdin() -> BinaryIO:
    """Keep stdin for requests; later readers of stdin find nothing."""
    taken = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return os.fdopen(taken, "rb")


def _take_stdout() -> BinaryIO:
    """Keep stdout for answers; later prints go to stderr."""
    taken = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(taken, "wb")


def _read(requests: BinaryIO, lines: SimpleQueue[bytes]) -> None:
    for line in requests:
        lines.put(line)
    os._exit(0)


def _write(answers: BinaryIO, lines: bytes) -> None:
    answers.write(lines + b"\n")
    answers.flush()


def _say(answers: BinaryIO, text: str, confidence: float | None = None) -> None:
    _write(answers, encode({"delta": text, "confidence": confidence}))


def _answer(target: Callable[..., Any], request: Any, runner: asyncio.Runner) -> bytes:
    try:
        return _reply(_call(target, request, runner))
    except BaseException as error:
        return _failure_line(error)


def _answer_batch(target: Callable[..., Any], requests: Any, runner: asyncio.Runner) -> bytes:
    """Return a line for each request."""
    count = len(requests)
    try:
        replies = _call(target, requests, runner)
        if not isinstance(replies, list | tuple):
            name = type(replies).__name__
            raise BadReply(f"a batch needs a list of {count} replies, not a {name}")
        if len(replies) != count:
            raise BadReply(f"{len(replies)} replies to a batch of {count} requests")
        return b"\n".join([_reply(reply) for reply in replies])
    except BaseException as error:
        return b"\n".join([_failure_line(error)] * count)


def _call(target: Callable[..., Any], request: Any, runner: asyncio.Runner) -> Any:
    reply = target(request)
    return runner.run(reply) if inspect.iscoroutine(reply) else reply


def _reply(reply: Any) -> bytes:
    if isinstance(reply, BaseException):
        return _failure_line(reply)
    try:
        return b'{"reply":%b}' % check(reply).encoded
    except BadReply as error:
        what = str(error).removeprefix(f"{error.path}: ")
        return encode({"failed": "bad_reply", "text": what, "path": error.path})
    except Exception:
        text = f"a {type(reply).__name__} cannot be written as JSON"
        return encode({"failed": "bad_reply", "text": text})


def _failure_line(error: BaseException) -> bytes:
    if isinstance(error, BadReply):
        return encode({"failed": "bad_reply", "text": str(error).removeprefix("$: ")})
    return encode({"failed": "raised", "text": text_and_place(error)})


if __name__ == "__main__":
    main(*sys.argv[1:])
