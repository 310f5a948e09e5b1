"""Runs the tests of files: cassettes, and dialogs that people wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.call_recording import CallRecorder, record_calls
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import FILE_NAME, assistant_file, load
from prolocutor.config.settings import Settings
from prolocutor.dialog.inputs import TurnInput
from prolocutor.errors import BadInput, ConfigError, ProlocutorError
from prolocutor.plugins.cassettes.cassette import (
    SUFFIX,
    Cassette,
    RecordedReply,
    find_files,
    read_cassette,
)
from prolocutor.plugins.cassettes.expectations import (
    DialogFile,
    DialogStep,
    WrittenDialog,
    broken_bounds,
    broken_expectations,
    is_dialogs,
    read_dialogs,
)
from prolocutor.plugins.cassettes.faults import FaultyAgents
from prolocutor.plugins.cassettes.judging import Judge
from prolocutor.plugins.cassettes.recording import CassetteRecorder, recorded_reply
from prolocutor.plugins.cassettes.redaction import Mask, Names, Redaction
from prolocutor.plugins.cassettes.replaying import (
    CassettePlayer,
    play,
    played_assistant,
    read_input,
)
from prolocutor.plugins.cassettes.reports import TestOutcome

YAML: Final = (".yaml", ".yml")
USER: Final = "tester"

Report = Callable[[TestOutcome], None]

_HINT: Final = "If this is as it should be, write the cassette anew: prolocutor test --update"


class TestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a test run.

    - `assistant` replaces the assistant that files name.
    - `update` records cassettes again with live agents.
    - `pace` and `live` go to `CassettePlayer`.
    - `faults` make agents fail.
    - `judge` grades criteria.
    """

    __test__ = False

    assistant: Path | None = None
    update: bool = False
    pace: float = 0.0
    live: tuple[str, ...] = ()
    faults: FaultyAgents | None = None
    judge: Judge | None = None


def test_files(paths: Sequence[Path]) -> list[Path]:
    """Return the cassettes and files of dialogs; raise `BadInput` for a path without any."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: there is no such file or folder")
        files = list(find_files([path], (SUFFIX, *YAML)))
        if path.is_dir():
            files = [file for file in files if file.suffix == SUFFIX or is_dialogs(file)]
        if not files:
            what = f"{path} has no cassettes (*{SUFFIX}) and no dialogs (YAML with `- say:`)"
            raise BadInput(f"{what}; record one: prolocutor record {path / 'talk'}{SUFFIX} -- chat")
        found += files
    return list(dict.fromkeys(found))


class TestRun:
    """Runs tests in sequence, and reports each."""

    __test__ = False

    def __init__(self, options: TestOptions, report: Report) -> None:
        self._options = options
        self._report = report
        self._redaction = Redaction()
        self._settings: dict[Path, Settings] = {}
        self.outcomes: list[TestOutcome] = []

    async def run(self, files: Sequence[Path]) -> None:
        """Run the tests of some files."""
        for file in files:
            if file.suffix == SUFFIX:
                await self._run_timed(TestOutcome(file=str(file), name=""), self._cassette(file))
            else:
                await self._dialogs(file)

    async def _run_timed(
        self, outcome: TestOutcome, test: Callable[[TestOutcome], Awaitable[None]]
    ) -> None:
        began = monotonic()
        try:
            await test(outcome)
        except ProlocutorError as error:
            outcome.status = "error"
            outcome.details = [*outcome.details, str(error)]
        outcome.seconds = monotonic() - began
        self.outcomes.append(outcome)
        self._report(outcome)

    def _cassette(self, file: Path) -> Callable[[TestOutcome], Awaitable[None]]:
        async def run(outcome: TestOutcome) -> None:
            cassette = read_cassette(file)
            outcome.turns = len(cassette.turns)
            settings = self._find_settings(file, cassette.header.assistant)
            if self._options.update:
                await self._record_again(file, cassette, settings)
                outcome.status = "updated"
                return
            player = await self._play(settings, cassette)
            if self._options.faults is not None:
                _check_laws(player, outcome)
            else:
                _tell_differences(player, outcome)

        return run

    async def _play(self, settings: Settings, cassette: Cassette) -> CassettePlayer:
        options = self._options
        player = CassettePlayer(
            cassette, pace=options.pace, live=options.live, redaction=self._redaction
        )
        recorder: CallRecorder = player
        if options.faults is not None:
            recorder = options.faults.make_recorder(player)
        async with played_assistant(settings, player, recorder) as assistant:
            await play(assistant, player)
        return player

    async def _record_again(self, file: Path, cassette: Cassette, settings: Settings) -> None:
        """Record a cassette again, by saying its words to live agents."""
        fresh = file.with_name(f"{file.name}.new")
        recorder = CassetteRecorder(fresh, anew=True, together=True, redaction=self._redaction)
        recorder.keep(cassette.header, file)
        try:
            with record_calls(recorder):
                starting = build_assistant(settings, store="memory:", recording=False)
                async with starting as assistant:
                    for turn in cassette.turns:
                        await assistant.turn(read_input(turn))
            if not recorder.written:
                raise BadInput(f"{file}: nothing could be recorded")
            fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)

    async def _dialogs(self, file: Path) -> None:
        try:
            written = read_dialogs(file)
            settings = self._find_settings(file, written.assistant or "")
        except ProlocutorError as error:
            outcome = TestOutcome(file=str(file), name="", status="error", details=[str(error)])
            self.outcomes.append(outcome)
            self._report(outcome)
            return
        async with AsyncExitStack() as stack:
            live: Assistant | None = None
            for number, (name, dialog) in enumerate(written.dialogs.items(), 1):
                outcome = TestOutcome(file=str(file), name=name, turns=len(dialog.turns))
                cassette = _find_cassette(file, written, name, dialog)
                if cassette is None and live is None:
                    faults = self._options.faults
                    starting = live_assistant(
                        settings, faults.make_recorder(None) if faults else None
                    )
                    live = await stack.enter_async_context(starting)
                test = self._dialog(dialog, settings, cassette, live, f"{USER}-{number}")
                await self._run_timed(outcome, test)

    def _dialog(
        self,
        dialog: WrittenDialog,
        settings: Settings,
        cassette: Path | None,
        live: Assistant | None,
        user: str,
    ) -> Callable[[TestOutcome], Awaitable[None]]:
        is_new = cassette is not None and (self._options.update or not cassette.exists())

        async def run(outcome: TestOutcome) -> None:
            if cassette is None:
                assert live is not None
                await self._talk(live, dialog, user, outcome)
            elif is_new:
                recorder = CassetteRecorder(
                    cassette, anew=True, together=True, redaction=self._redaction
                )
                async with live_assistant(settings, recorder) as assistant:
                    await self._talk(assistant, dialog, USER, outcome)
                if outcome.status == "passed":
                    outcome.status = "updated"
            else:
                player = CassettePlayer(
                    read_cassette(cassette),
                    pace=self._options.pace,
                    live=self._options.live,
                    redaction=self._redaction,
                )
                async with played_assistant(settings, player) as assistant:
                    await self._talk(assistant, dialog, USER, outcome)
                player.finish()
                _tell_differences(player, outcome)

        return run

    async def _talk(
        self, assistant: Assistant, dialog: WrittenDialog, user: str, outcome: TestOutcome
    ) -> None:
        said: list[tuple[str, str]] = []
        mask = Mask(self._redaction, Names())
        for number, step in enumerate(dialog.turns, 1):
            began = monotonic()
            reply = await said_reply(assistant, step, user, mask)
            seconds = monotonic() - began
            said.append((step.say, reply.reply))
            if self._options.faults is not None:
                broken = [*broken_bounds(step, dialog, reply, seconds)]
                if reply.error is not None or not (reply.reply or reply.messages):
                    broken.append(f"there is a reply ({reply.error or 'nothing was said'})")
            else:
                broken = [*broken_expectations(step, dialog, reply, seconds)]
            if broken:
                outcome.fail(
                    f"turn {number}: {step.say!r}",
                    f"  reply: {reply.error or reply.reply!r} ({reply.agent or reply.by})",
                    *(f"  expected that {one}" for one in broken),
                )
            await self._judge(step.judge, said, outcome, f"turn {number}")
        await self._judge(dialog.judge, said, outcome, "the dialog")

    async def _judge(
        self,
        criteria: Sequence[str],
        said: Sequence[tuple[str, str]],
        outcome: TestOutcome,
        where: str,
    ) -> None:
        for criterion in criteria:
            if self._options.judge is None:
                outcome.notes = [*outcome.notes, f"not judged, without --judge: {criterion}"]
                continue
            verdict = await self._options.judge.grade(criterion, said)
            line = f"{where}: {criterion}: {'yes' if verdict.met else 'no'}, {verdict.reason}"
            if verdict.met:
                outcome.notes = [*outcome.notes, f"judged {line}"]
            else:
                outcome.fail(f"judged {line}")

    def _find_settings(self, file: Path, said: str) -> Settings:
        """Return the settings of a test's assistant, which are read once."""
        path = self._options.assistant
        if path is None and said:
            path = (file.parent / said).resolve()
        if path is None:
            folders = [file.absolute().parent, *list(file.absolute().parents)[1:4]]
            path = next(
                (folder / FILE_NAME for folder in folders if (folder / FILE_NAME).exists()), None
            )
        if path is None:
            what = f"{file}: it names no assistant, and there is no {FILE_NAME} beside it"
            raise ConfigError(f"{what}; name one: --assistant FILE")
        path = assistant_file(path).absolute()
        if path not in self._settings:
            self._settings[path] = load(path)
        return self._settings[path]


def _tell_differences(player: CassettePlayer, outcome: TestOutcome) -> None:
    """Report the first differing turn in full, later ones by name only."""
    differences = player.differences
    turns = sorted({difference.turn for difference in differences if difference.turn})
    if not differences:
        return
    first = [difference for difference in differences if difference.turn in (0, *turns[:1])]
    outcome.fail(*(one.told() for one in first))
    if turns[1:]:
        outcome.details.append(f"turns after it differ too: {', '.join(map(str, turns[1:]))}")
    outcome.notes = [*outcome.notes, _HINT]


def _check_laws(player: CassettePlayer, outcome: TestOutcome) -> None:
    """Report turns without a reply; with injected faults nothing else is comparable."""
    for number, reply in enumerate(player.replies, 1):
        if reply.error is not None or not (reply.reply or reply.messages):
            outcome.fail(f"turn {number}: no reply ({reply.error or 'nothing was said'})")


@asynccontextmanager
async def live_assistant(
    settings: Settings, recorder: CallRecorder | None
) -> AsyncIterator[Assistant]:
    """Run the assistant of a file with its live agents and an empty store."""
    with record_calls(recorder):
        async with build_assistant(settings, store="memory:", recording=False) as assistant:
            yield assistant


async def said_reply(
    assistant: Assistant, step: DialogStep, user: str, mask: Mask
) -> RecordedReply:
    """Say the words of a step; return the reply, or the error."""
    try:
        result: TurnResult = await assistant.turn(
            TurnInput(step.say, step.user or user, attributes=step.attributes)
        )
    except ProlocutorError as error:
        return RecordedReply(error=f"{type(error).__name__}: {error}")
    return recorded_reply(result, mask)


def _find_cassette(
    file: Path, written: DialogFile, name: str, dialog: WrittenDialog
) -> Path | None:
    if dialog.cassette is not None:
        return file.parent / dialog.cassette
    if written.cassettes is not None:
        safe = "".join(one if one.isalnum() else "-" for one in name).strip("-") or "dialog"
        return file.parent / written.cassettes / f"{safe}{SUFFIX}"
    return None
