"""The suite's own set-up: child processes, imported modules, Hypothesis, the closing line."""

import gc
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType

import hypothesis
import pytest

from tests import postgresql_server
from tests.acceptance.fixtures import commands, new_assistant, own
from tests.postgresql_server import database, postgresql, worker_database
from tests.small_disk import small_disk

__all__ = [
    "commands",
    "database",
    "new_assistant",
    "own",
    "postgresql",
    "small_disk",
    "worker_database",
]

# Generated inputs are what matters, not how quickly a busy machine tries them.
for name, examples in {"suite": 25, "long": 1_000}.items():  # `make test-long` takes the other one
    hypothesis.settings.register_profile(
        name,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
hypothesis.settings.load_profile("suite")


def pytest_sessionstart(session: pytest.Session) -> None:
    _let_children_be_interrupted()
    if not hasattr(session.config, "workerinput"):
        postgresql_server.begin_session()
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(terminal, pytest.TerminalReporter):
        _name_what_was_skipped(terminal)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        postgresql_server.end_session()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let the garbage collector pass over what is made while tests are collected, and stays.

    Each full collection would walk through all tests and modules: half of the time of collecting.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Forget, after the last test of a file, what its tests imported from folders of their own.

    Assistants name modules such as `agents` beside their file, and there are many such folders.
    """
    yield
    if nextitem is None or nextitem.path != item.path:
        sys.path[:] = _SEARCHED
        for name in [name for name, module in sys.modules.copy().items() if _of_a_test(module)]:
            del sys.modules[name]


_SEARCHED = list(sys.path)
_ROOT = Path(__file__).parents[1]
_OUR_OWN = ("prolocutor", "prolocutor_demo", "tests", "bench")
_OF_TESTS = (tempfile.gettempdir(), *(str(_ROOT / one) for one in ("tests", "deploy", "bench")))


def _of_a_test(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.startswith(_OF_TESTS) or file.startswith(sys.prefix):
        return False
    return module.__name__.partition(".")[0] not in _OUR_OWN


def _let_children_be_interrupted() -> None:
    """Replace inherited ignored signals with handlers that do nothing.

    `make test &` and `nohup` start the suite with SIGINT or SIGHUP ignored, and a process hands
    that down to its children, which tests then cannot interrupt. A handler is not handed down:
    children start with the default action, while the suite itself goes on ignoring the signal.
    """
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing."""


def _name_what_was_skipped(terminal: pytest.TerminalReporter) -> None:
    """Add the reasons of skipped tests to pytest's closing line, "N passed, M skipped (...)"."""
    build = terminal.build_summary_stats_line

    def build_with_reasons() -> tuple[list[tuple[str, dict[str, bool]]], str]:
        parts, color = build()
        skipped = terminal.stats.get("skipped", [])
        reasons = "; ".join(sorted({*_reasons(skipped)}))
        others = [part for part in parts if not part[0].endswith(" skipped")]
        told = f"{len(skipped)} skipped ({reasons})" if reasons else "0 skipped"
        return [*others, (told, {"yellow": bool(reasons)})], color

    terminal.build_summary_stats_line = build_with_reasons  # type: ignore[method-assign]


def _reasons(skipped: list[pytest.TestReport | pytest.CollectReport]) -> Iterator[str]:
    """The words given to `pytest.skip`, by convention `what (why)`."""
    for report in skipped:
        match report.longrepr:
            case (_, _, reason):
                yield str(reason).removeprefix("Skipped: ")
            case _:
                yield report.nodeid
