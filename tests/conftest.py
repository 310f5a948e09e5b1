"""What was skipped, and why, as the last line of a run."""

from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    result = yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(terminal, pytest.TerminalReporter):
        reasons = sorted({_reason(report) for report in terminal.stats.get("skipped", [])})
        terminal.write_line(f"skipped: {', '.join(reasons) or 'nothing'}")
    return result


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The words given to `pytest.skip`, by convention `what (why)`."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return report.nodeid
