"""Scores dialogs of the demo: how often the last turn of two or three gets a right reply.

Each line of `tests/demo/dialogs/*.txt` has turns, apart by " | ", then "=>", the agents that may
answer the last turn (`*`: any), and a pattern that its reply matches. Lines of `*alone.txt` end in
a turn that stands alone and must not be rewritten. The clock stands still, at 20 November 2026,
13:00 in Rome.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import build_assistant
from prolocutor.config.settings import Settings
from prolocutor.dialog.rounds import read_follow_up
from prolocutor.plugins.language.follow_up import annotate
from prolocutor.plugins.language.together.clauses import ask_each

DIALOGS: Final = Path(__file__).parents[1] / "tests" / "demo" / "dialogs"
NOW: Final = "2026-11-20 12:00:00.000000"
ZONE: Final = "Europe/Rome"
CONCURRENCY: Final = 8
LEAST_RIGHT: Final = 0.9
MOST_SPOILT: Final = 0.02


class DialogLine(msgspec.Struct, frozen=True):
    """One line: its file, its turns, the agents of the last one, and a pattern of the reply."""

    file: str
    turns: list[str]
    agents: list[str]
    pattern: str

    @property
    def alone(self) -> bool:
        """Whether the last turn stands alone."""
        return self.file.endswith("alone")


class DialogVerdict(msgspec.Struct, frozen=True):
    """The outcome of one line; `meant` is what the last turn was rewritten to, "" if it was not."""

    line: DialogLine
    right: bool
    by: list[str]
    reply: str
    meant: str


class DialogScore(msgspec.Struct, frozen=True):
    """Right replies by file: name -> [right, said].

    `rewritten` are the lines that stand alone and were rewritten.
    """

    files: dict[str, tuple[int, int]]
    rewritten: list[DialogVerdict]
    wrong: list[DialogVerdict]

    @property
    def good(self) -> bool:
        """Whether enough follow-ups are right, and few enough others spoilt."""
        right, said = self._sum(alone=False)
        kept, alone = self._sum(alone=True)
        return right >= LEAST_RIGHT * said and alone - kept <= MOST_SPOILT * alone

    def _sum(self, *, alone: bool) -> tuple[int, int]:
        found = [both for name, both in self.files.items() if name.endswith("alone") is alone]
        return sum(right for right, _ in found), sum(said for _, said in found)


def at_a_fixed_time(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Make the requests of an agent of the demo, at the moment when the clock stands still."""
    human = {
        **state["human"],
        "attributes": {**state["human"]["attributes"], "timezone": ZONE},
    }
    requests = ask_each({**state, "human": human})
    for request in requests:
        last = {**request["human_utterances"][-1], "date_time": NOW, "user": human}
        request["human_utterances"] = [*request["human_utterances"][:-1], last]
        request["utterances"] = [*request["utterances"][:-1], last]
    return requests


async def score_dialogs(settings: Settings) -> DialogScore:
    """Hold all dialogs with the real assistant, a few concurrently, each by its own user."""
    lines = dialog_lines()
    pipeline = settings.pipeline
    skills = [
        msgspec.structs.replace(skill, formatter=at_a_fixed_time) if skill.fan_out else skill
        for skill in pipeline.skills
        if not callable(skill)
    ]
    still = msgspec.structs.replace(
        settings, pipeline=msgspec.structs.replace(pipeline, skills=skills)
    )
    slots = asyncio.Semaphore(CONCURRENCY)
    async with build_assistant(still, store="memory:") as assistant:

        async def hold(number: int, line: DialogLine) -> DialogVerdict:
            async with slots:
                return await _hold(assistant, f"dialog {number}", line)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(hold(number, line)) for number, line in enumerate(lines)]
    verdicts = [task.result() for task in tasks]
    files: dict[str, tuple[int, int]] = {}
    for verdict in verdicts:
        right, said = files.get(verdict.line.file, (0, 0))
        files[verdict.line.file] = right + verdict.right, said + 1
    rewritten = [verdict for verdict in verdicts if verdict.line.alone and verdict.meant]
    return DialogScore(files, rewritten, [verdict for verdict in verdicts if not verdict.right])


def dialog_lines() -> list[DialogLine]:
    """Return all lines of all files."""
    lines = []
    for file in sorted(DIALOGS.glob("*.txt")):
        for text in file.read_text(encoding="utf-8").splitlines():
            if text.strip() and not text.startswith("#"):
                said, _, expected = text.rpartition("=>")
                agents, _, pattern = expected.partition(":")
                turns = [turn.strip() for turn in said.split(" | ")]
                names = re.findall(r"\w+|\*", agents)
                lines.append(DialogLine(file.stem, turns, names, pattern.strip()))
    return lines


async def _hold(assistant: Assistant, user: str, line: DialogLine) -> DialogVerdict:
    for turn in line.turns:
        result = await assistant.turn(turn, user=user)
    record = result.record
    assert record is not None
    by = list(dict.fromkeys(id_.rpartition(".")[0] for id_ in record.chosen))
    found = read_follow_up(result.annotations)
    shows = re.search(line.pattern, record.response, re.IGNORECASE | re.DOTALL) is not None
    right = shows and ("*" in line.agents or bool(set(by) & set(line.agents)))
    return DialogVerdict(line, right, by, record.response, found.text if found else "")


def rule_costs(lines: list[DialogLine]) -> list[float]:
    """Return the CPU microseconds that the rules take for each turn of these dialogs, sorted."""
    costs = []
    for line in lines:
        utterances: list[dict[str, Any]] = []
        for turn in line.turns:
            said: dict[str, Any] = {"text": turn, "annotations": {}}
            state = {"utterances": [*utterances, said], "human_utterances": [said]}
            before = time.thread_time_ns()
            said["annotations"]["follow_up"] = annotate(state)
            costs.append((time.thread_time_ns() - before) / 1000)
            reply = {"text": "100 euros = 115.20 US dollars.", "active_skill": "any"}
            utterances += [said, reply]
    return sorted(costs)


def show_dialogs(score: DialogScore, *, wrong: bool) -> None:
    """Print the score, and the lines that went wrong."""
    print(f"\n{'dialogs':<24}{'right':>6}{'said':>6}{'share':>8}")
    for name, (right, said) in sorted(score.files.items()):
        print(f"{name:<24}{right:>6}{said:>6}{right / said:>8.1%}")
    print(f"stand alone and were rewritten: {len(score.rewritten)}")
    costs = rule_costs(dialog_lines())
    print(
        f"the rules take {statistics.median(costs):.0f} us of CPU a turn, "
        f"{costs[len(costs) * 99 // 100]:.0f} us in one of 100, at most {costs[-1]:.0f} us"
    )
    for one in [*score.rewritten, *score.wrong] if wrong else ():
        said = " | ".join(one.line.turns)
        print(f"{said!r} = {one.meant!r} -> {', '.join(one.by)}: {one.reply[:90]!r}")
