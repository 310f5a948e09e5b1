"""The door of tests: operators keep stored conversations as tests, in the console."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, ClassVar, Final

import msgspec

from prolocutor.bounds import about
from prolocutor.contracts.channel import Channel, Route
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.cassettes.cassette import SUFFIX, CassetteWriter
from prolocutor.plugins.cassettes.keeping import dialog_text, make_cassette
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

PATH: Final = "/api/console/tests"
_SAFE: Final = re.compile(r"[^\w-]+")


class TestToKeep(msgspec.Struct, frozen=True, kw_only=True):
    """The dialog to keep as a test, to its end or to a reply; `name` is the name of the file."""

    __test__: ClassVar[bool] = False  # it is not a test of pytest's

    dialog_id: str = ""
    utt_id: str = ""
    name: str = ""


class KeptTest(msgspec.Struct, frozen=True, kw_only=True):
    """A test: its file (None if the browser keeps it), the cassette, the dialog in YAML."""

    name: str
    file: str | None
    turns: int
    cassette: str
    yaml: str


class TestFolder(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of tests, or None if the browser keeps them."""

    __test__: ClassVar[bool] = False

    folder: str | None


class TestsDoor(msgspec.Struct, frozen=True, kw_only=True):
    """Stored conversations become tests, for operators, at `/api/console/tests`."""

    is_usual: ClassVar[bool] = True
    operators_data: ClassVar[str] = PATH

    folder: Annotated[
        str | None,
        about(
            "The folder of tests, relative to the file's folder; by default the browser "
            "keeps tests."
        ),
    ] = None

    def build(self, context: DoorContext) -> Channel:
        """Return the door."""
        return KeptTests(context, self.folder)


class KeptTests:
    """Makes tests of stored conversations of an assistant."""

    name: Final = "tests"
    prefix: Final = "tests:"

    def __init__(self, context: DoorContext, folder: str | None) -> None:
        self._assistant = context.assistant
        self._base = Path(context.folder)
        self._folder = None if folder is None else self._base / folder
        keep = OperatorWrite(self.keep_test, errors=[NotFound, BadInput])
        self.routes = [
            Route("GET", PATH, Operation(self.show_folder), "operators"),
            Route("POST", PATH, keep, "operators"),
        ]

    async def show_folder(self, request: TypedRequest[None, None]) -> TestFolder:
        """Return the folder of tests."""
        return TestFolder(folder=None if self._folder is None else str(self._folder))

    async def keep_test(self, request: TypedRequest[None, TestToKeep]) -> KeptTest:
        """Keep a stored conversation as a test."""
        body = request.body
        dialog = await self._dialog(body)
        until = body.utt_id.lower() or None
        name = _SAFE.sub("-", body.name).strip("-")[:80] or f"kept-{dialog.dialog_id[:12]}"
        return self._kept(dialog, until, name)

    async def _dialog(self, body: TestToKeep) -> Dialog:
        store, found = self._assistant.store, body.dialog_id
        if not found and body.utt_id:
            recorder = self._assistant.records.recorder
            if recorder is None:
                raise NotFound("this assistant keeps no records of turns: name the dialog_id")
            await recorder.settle()
            kept = await recorder.store.turn(body.utt_id.lower())
            found = "" if kept is None else kept.dialog_id
        dialog = await store.dialog(DialogId(found)) if found else None
        if dialog is None:
            raise NotFound("there is no such conversation; name a dialog_id or an utt_id")
        return dialog

    def _kept(self, dialog: Dialog, until: str | None, name: str) -> KeptTest:
        pipeline = self._assistant.engine.prepared.graph.pipeline
        cassette = make_cassette(dialog, pipeline, until=until)
        folder = self._folder or self._base
        lines = CassetteWriter.file_content(cassette)
        file: Path | None = None
        if self._folder is not None:
            file = folder / f"{name}{SUFFIX}"
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh = file.with_name(f"{file.name}.new")
            fresh.write_bytes(lines)
            os.replace(fresh, file)
        return KeptTest(
            name=name,
            file=None if file is None else str(file),
            turns=len(cassette.turns),
            cassette=lines.decode(),
            yaml=dialog_text(cassette, name),
        )
