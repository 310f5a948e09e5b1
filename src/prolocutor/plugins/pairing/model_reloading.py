"""Reloading: a model's folder is read again after it was replaced, without delaying a turn.

The old model stays in use until the new one is loaded; one that cannot be read changes
nothing. A router or ranker looks at the folder's head once a second at most, and reading is
done in a thread of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from prolocutor.errors import ProlocutorError
from prolocutor.plugins.pairing.loss_curve import LossCurve
from prolocutor.plugins.pairing.model_files import HEAD
from prolocutor.plugins.pairing.model_shelf import FolderShelf
from prolocutor.plugins.pairing.risk_curve import RiskCurve

log = logging.getLogger(__name__)

LOOKS: Final = 1.0
"""Seconds between two looks at a folder."""

Method = TypeVar("Method")


class VersionedMethod(msgspec.Struct, Generic[Method], frozen=True):
    """A router or ranker of a model, the model's id as its `version`, and its curves if any."""

    method: Method
    version: str
    losses: LossCurve | None = None
    risks: RiskCurve | None = None


class ReloadedModel(Generic[Method]):
    """The latest model of a folder; `load` reads it, and raises if it cannot."""

    trainer = "prolocutor.plugins.pairing.measuring.training_process"

    def __init__(
        self,
        folder: Path,
        load: Callable[[], VersionedMethod[Method]],
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._folder = folder
        self._load: Callable[[], VersionedMethod[Method]] = load
        self._clock = clock
        self._lock = Lock()
        self._seen = self._stamp()
        self._looked = clock()
        self._ready: VersionedMethod[Method] = load()
        self._failure = self._unwritten = ""

    def teach(self, lessons: Sequence[Any]) -> bool:
        """Let the method in use learn; return False where it is just being made anew."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._ready.method.learn_all(lessons)  # type: ignore[attr-defined]
        except ProlocutorError as error:
            self._note(f"something was not learned: {error}")
        finally:
            self._lock.release()
        return True

    def make_folder(self) -> None:
        """Make the folder where there is none, and say where no model can be written."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self._folder.parent):
                pass
        except OSError as error:
            what = f"no model can be written: {error.strerror}"
            self._unwritten = f"{self._folder}: {what}; what people teach is in the store"
            log.error("%s", self._unwritten)

    @property
    def problem(self) -> str:
        """What is wrong with learning, to be shown to operators; "" if nothing is."""
        return self._failure or self._unwritten

    def _note(self, failure: str) -> None:
        self._failure = f"{self._folder}: {failure}"
        log.error("%s", self._failure)

    @property
    def folder(self) -> Path:
        """Where the model is read from."""
        return self._folder

    @property
    def shelf(self) -> FolderShelf:
        """The models beside it."""
        return FolderShelf(self._folder)

    @property
    def latest(self) -> VersionedMethod[Method]:
        """The method in use and its version; starts a reload if the folder has changed."""
        now = self._clock()
        if now - self._looked >= LOOKS:
            self._looked = now
            stamp = self._stamp()
            if stamp is not None and stamp != self._seen:
                self._seen = stamp
                Thread(target=self.reload, name="model", daemon=True).start()
        return self._ready

    def reload(self) -> None:
        """Read the folder now; on an error, log it and keep the old model."""
        with self._lock:
            try:
                self._ready, self._failure = self._load(), ""
            except ProlocutorError as error:
                self._note(f"the model in use stays as it was: {error}")
            else:
                log.info("the model in %s is now %s", self._folder, self._ready.version)

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = (self._folder / HEAD).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino


MethodSource: TypeAlias = Method | VersionedMethod[Method] | ReloadedModel[Method]
"""A router or ranker: itself, with the id of its model, or the latest of a folder."""


def latest(source: MethodSource[Method]) -> VersionedMethod[Method]:
    """Return the method to use now, with its version ("" where it has none)."""
    if isinstance(source, ReloadedModel):
        return source.latest
    return source if isinstance(source, VersionedMethod) else VersionedMethod(source, "")
