"""Run the test kits of other protocols against our doors and connectors, and judge the results.

`build/conformance` has the kits of `requirements/conformance.txt`. What fails has to be in
`expected.yaml` with its reason; what is there and does not fail any more is told, too. With
`--write` the table of `docs/reference/conformance.md` is made anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import yaml
from aiohttp import ClientSession

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
KITS: Final = Path(os.environ.get("PROLOCUTOR_KITS") or ROOT / "build" / "conformance")
PAGE: Final = ROOT / "docs" / "reference" / "conformance.md"
NODE: Final = KITS / "node_modules" / ".bin" / "node"
MCP: Final = "node_modules/@modelcontextprotocol/conformance"
REVISIONS: Final = ("2025-11-25", "2026-07-28")
PATIENCE: Final = 600.0
SLOWLY: Final = ("--timeout", "120000")
"""Milliseconds for one scenario."""

BEGIN, END = "<!-- results -->", "<!-- end of results -->"

_LISTENS: Final = re.compile(r"listens on (\S+)")
_COUNTED: Final = re.compile(r"Passed: (\d+)/\d+, (\d+) failed")
_VERDICT: Final = re.compile(r"([✓✗]) ([\w/-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


class Scenario(NamedTuple):
    """One scenario of a kit: whether it passed, and how many of its checks did."""

    name: str
    passed: bool
    good: int = 0
    bad: int = 0
    why: str = ""


class KitRun(NamedTuple):
    """What one kit found of one side of us; `side` is its key in `expected.yaml`."""

    kit: str
    version: str
    side: str
    scenarios: list[Scenario]


class Reason(NamedTuple):
    """Why a scenario fails: `what` is absent here, or open where it ought to be mended."""

    what: str
    is_open: bool


async def main() -> int:
    """Run all kits; return the exit status."""
    if not NODE.exists():
        print(f"skipped, as npm could not install them in {KITS}: the kits of MCP, A2A and AG-UI")
        return 0
    async with served() as url:
        runs = [await mcp_server(url, revision) for revision in REVISIONS]
        runs.append(await checks_of("A2A's SDK for JavaScript", "@a2a-js/sdk", "a2a", url))
        runs.append(await checks_of("AG-UI's client for JavaScript", "@ag-ui/client", "agui", url))
    runs += [await mcp_client(revision) for revision in REVISIONS]
    expected = read_expected(HERE / "expected.yaml")
    print(table(runs, expected))
    if "--write" in sys.argv[1:]:
        write_page(runs, expected)
    wrong = [*unexpected(runs, expected), *stale(runs, expected)]
    print("\n".join(wrong) or "Every failure has its reason in tests/conformance/expected.yaml.")
    return 1 if wrong else 0


# -- the kits ----------------------------------------------------------------------------------


async def mcp_server(url: str, revision: str) -> KitRun:
    """Run MCP's kit against the door."""
    found = await mcp_kit("server", "--url", f"{url}/mcp", "--requirements", revision)
    return KitRun(f"MCP conformance, server, {revision}", version_of(MCP), "mcp-server", found)


async def mcp_client(revision: str) -> KitRun:
    """Run MCP's kit against the connector, two scenarios at a time.

    The kit itself would start all of its clients at once, which then wait for each other.
    """
    places = asyncio.Semaphore(2)
    required = yaml.safe_load((KITS / MCP / "requirements" / f"{revision}.yaml").read_text())
    others = [one["scenario"] for one in required["not_scored"] if one["leg"] == "client"]

    async def verdict(name: str) -> Scenario:
        async with places:
            command = f"{sys.executable} {HERE / 'mcp_client.py'}"
            asked = ("--scenario", name, "--spec-version", revision, "--force", *SLOWLY)
            said = await node(f"{MCP}/dist/index.js", "client", "--command", command, *asked)
        counted = _COUNTED.search(said)
        good, bad = (int(counted[1]), int(counted[2])) if counted else (0, 1)
        return Scenario(name, "OVERALL: PASSED" in said, good, bad)

    found = await asyncio.gather(*map(verdict, [*required["client"], *others]))
    kit = f"MCP conformance, client, {revision}"
    return KitRun(kit, version_of(MCP), "mcp-client", list(found))


async def mcp_kit(*arguments: str) -> list[Scenario]:
    """Run one of the commands of MCP's kit, with all of its scenarios."""
    with TemporaryDirectory() as folder:
        said = await node(f"{MCP}/dist/index.js", *arguments, "--output-dir", folder, *SLOWLY)
    _, _, summary = said.rpartition("=== SUMMARY ===")
    return [
        Scenario(name, mark == "✓", int(good), int(bad))
        for mark, name, good, bad in dict.fromkeys(_VERDICT.findall(summary))
    ]


async def checks_of(kit: str, package: str, side: str, url: str) -> KitRun:
    """Run our checks by a client of another's making."""
    (KITS / f"{side}_client.mjs").write_bytes((HERE / f"{side}_client.mjs").read_bytes())
    said = await node(f"{side}_client.mjs", url)
    found = [json.loads(line) for line in said.splitlines() if line.startswith('{"id"')]
    scenarios = [
        Scenario(one["id"], one["ok"], int(one["ok"]), int(not one["ok"]), one["why"])
        for one in found
    ]
    if not scenarios:
        scenarios = [Scenario("client-runs", False, 0, 1, said[-500:])]
    return KitRun(kit, version_of(f"node_modules/{package}"), side, scenarios)


async def node(*arguments: str) -> str:
    """Run a script by Node in the folder of the kits; return what it printed."""
    process = await asyncio.create_subprocess_exec(
        NODE, *arguments, cwd=KITS, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    except TimeoutError:
        process.kill()
        return ""
    return said.decode()


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """Serve the assistant of the kits on a free port; yield its URL."""
    command = [sys.executable, "-m", "prolocutor", "serve", HERE / "assistant.yaml", "--port", "0"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        listens = _LISTENS.search(line)
        if listens is None:
            raise RuntimeError(f"the assistant does not start: {line}")
        async with ClientSession(listens[1]) as http, http.get("/health"):
            yield listens[1]
    finally:
        process.terminate()
        await process.wait()


def version_of(package: str) -> str:
    """Return the version of an installed package of npm."""
    return str(json.loads((KITS / package / "package.json").read_bytes())["version"])


# -- the verdict -------------------------------------------------------------------------------


def read_expected(path: Path) -> dict[str, dict[str, Reason]]:
    """Return why scenarios fail, by side and name; a reason that begins with "open:" is ours."""
    found = yaml.safe_load(path.read_text()) or {}
    return {
        side: {
            name: Reason(why.removeprefix("open:").strip(), why.startswith("open:"))
            for why, names in reasons.items()
            for name in names
        }
        for side, reasons in found.items()
    }


def unexpected(runs: Iterable[KitRun], expected: dict[str, dict[str, Reason]]) -> list[str]:
    """Return a sentence for each scenario that fails without a reason."""
    return [
        f"{run.kit}: {scenario.name} fails ({scenario.bad} checks) {scenario.why}".rstrip()
        for run in runs
        for scenario in run.scenarios
        if not scenario.passed and scenario.name not in expected.get(run.side, {})
    ]


def stale(runs: Iterable[KitRun], expected: dict[str, dict[str, Reason]]) -> list[str]:
    """Return a sentence for each reason that is needed no more."""
    failing = {
        (run.side, scenario.name)
        for run in runs
        for scenario in run.scenarios
        if not scenario.passed
    }
    return [
        f"{side}: {name} does not fail any more; take it out of expected.yaml"
        for side, reasons in expected.items()
        for name in reasons
        if (side, name) not in failing
    ]


def table(runs: Iterable[KitRun], expected: dict[str, dict[str, Reason]]) -> str:
    """Return the results as a table of Markdown."""
    rows = [
        "| kit | version | scenarios | passed | not applicable | fails |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for kit, version, side, scenarios in runs:
        reasons = expected.get(side, {})
        failing = [scenario.name for scenario in scenarios if not scenario.passed]
        absent = [name for name in failing if name in reasons and not reasons[name].is_open]
        passed, total = len(scenarios) - len(failing), len(scenarios)
        row = (kit, version, total, passed, len(absent), len(failing) - len(absent))
        rows.append("| " + " | ".join(map(str, row)) + " |")
    return "\n".join(rows)


def write_page(runs: list[KitRun], expected: dict[str, dict[str, Reason]]) -> None:
    """Write the table, and the reasons of what fails, to the page of the reference."""
    failing = {
        (run.side, scenario.name)
        for run in runs
        for scenario in run.scenarios
        if not scenario.passed
    }
    lines = [table(runs, expected), "", "| side | scenarios | why |", "|---|---|---|"]
    for side, reasons in expected.items():
        for why in dict.fromkeys(reasons.values()):
            names = [f"`{name}`" for name in reasons if reasons[name] == why]
            names = [name for name in names if (side, name.strip("`")) in failing]
            if names:
                shown = f"open: {why.what}" if why.is_open else why.what
                lines.append(f"| {side} | {', '.join(names)} | {shown} |")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
