"""Models in use: read again where they were replaced, and the shelf of those beside them."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from prolocutor.contracts.model_use import ShelvedModel, StoredModel, TrainingReport
from prolocutor.errors import ConfigError, NotFound, ProlocutorError
from prolocutor.plugins.pairing.abstention import RiskCurve
from prolocutor.plugins.pairing.model_files import (
    HEAD,
    Model,
    head_of_model,
    install_model,
    load_model,
)

log = logging.getLogger(__name__)

SHELF: Final = ".models"
"""The ending of a shelf's folder, after the model's name."""

REPORT: Final = "report.json"
MAX_KEPT_MODELS: Final = 10
"""Former models that are kept, and kept models that were never in use."""

_ID: Final = re.compile(r"[\w-]{1,100}")
_decode_report: Final = msgspec.json.Decoder(TrainingReport).decode

_LOADING: Final = Lock()
"""Held while a model is read anew: msgspec may crash where two threads are the first to use a type,
and a type of a model may be used for the first time then."""

LOOKS: Final = 1.0
"""Seconds between two looks at a folder."""

Method = TypeVar("Method")


class FolderShelf:
    """The models of one role beside the folder in use. Its calls block.

    A model on the shelf is a folder named by its id; what is in use is a copy of one.
    """

    def __init__(self, in_use: Path) -> None:
        self._in_use = in_use
        self._folder = in_use.with_name(in_use.name + SHELF)

    def live(self) -> StoredModel | None:
        """Return the head of the model in use, without its labels; None if no model is in use."""
        try:
            return _stored_model(head_of_model(self._in_use))
        except NotFound:
            return None

    def models(self) -> list[ShelvedModel]:
        """Return the models on the shelf, the latest first, without damaged models."""
        found: list[tuple[float, ShelvedModel]] = []
        for folder in self._folders():
            try:
                model = _stored_model(head_of_model(folder))
                changed = (folder / HEAD).stat().st_mtime
            except (ProlocutorError, OSError) as error:
                log.warning("a stored model is left out: %s", error)
                continue
            if model.id == folder.name:
                found.append((-changed, ShelvedModel(model, _report(folder))))
        return [one for _, one in sorted(found, key=lambda pair: pair[0])]

    def new_folder(self) -> Path:
        """Make an empty folder, hidden from the list, for a new training."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return Path(mkdtemp(prefix=".new-", dir=self._folder))

    def put(self, folder: Path, report: TrainingReport) -> None:
        """Put a model trained within a `new_folder` on the shelf."""
        (folder / REPORT).write_bytes(msgspec.json.encode(report))
        folder.chmod(0o755)
        place = self._folder / report.model
        shutil.rmtree(place, ignore_errors=True)
        folder.rename(place)

    def install(self, id_: str) -> str:
        """Put a model in use, and return the id of the former model ("" for none).

        That one stays on the shelf. Raise `NotFound` for an unknown id, `ConfigError` for a damaged
        model.
        """
        folder = self._find(id_)
        before = self.live()
        if before is not None and before.id == id_:
            return before.id
        load_model(folder)  # nothing is moved for a model that is damaged
        if before is not None and not (self._folder / before.id / HEAD).is_file():
            install_model(self._in_use, self._folder / before.id)
        install_model(folder, self._in_use)
        return "" if before is None else before.id

    def delete(self, id_: str) -> None:
        """Remove a model from the shelf; `NotFound` for an unknown one."""
        shutil.rmtree(self._find(id_))

    def tidy(self, former: Collection[str]) -> None:
        """Keep ten `former` models, named by id, ten others, and what is in use."""
        live = self.live()
        kept = {True: 0, False: 0}
        for one in self.models():
            if live is not None and one.model.id == live.id:
                continue
            kind = one.model.id in former
            kept[kind] += 1
            if kept[kind] > MAX_KEPT_MODELS:
                shutil.rmtree(self._folder / one.model.id, ignore_errors=True)

    def sweep(self) -> None:
        """Remove the remains of interrupted trainings."""
        with suppress(OSError):
            for folder in [*self._folder.iterdir()]:
                if folder.name.startswith("."):
                    shutil.rmtree(folder, ignore_errors=True)

    def _find(self, id_: str) -> Path:
        """Return a folder by comparing names, never by joining what a caller sent."""
        for folder in self._folders():
            if folder.name == id_:
                return folder
        raise NotFound(f"no model has the id {id_!s:.80}", field="id")

    def _folders(self) -> list[Path]:
        try:
            return [one for one in self._folder.iterdir() if _ID.fullmatch(one.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror}", file=str(self._folder)) from None


def _stored_model(model: Model) -> StoredModel:
    card = model.card
    return StoredModel(
        id=model.id, method=model.method, made=card.date, learned=card.examples, note=card.note
    )


def _report(folder: Path) -> TrainingReport | None:
    try:
        return _decode_report((folder / REPORT).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return None


class VersionedMethod(msgspec.Struct, Generic[Method], frozen=True):
    """A router or ranker of a model, the model's id as its `version`, and its errors if counted."""

    method: Method
    version: str
    risks: RiskCurve | None = None


class ReloadedModel(Generic[Method]):
    """The latest model of a folder; `load` reads it, and raises if it cannot."""

    trainer = "prolocutor.plugins.pairing.measuring.retraining"

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
        with self._lock, _LOADING:
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
