"""PartialTraining: what is done of a training, beside the model's folder, until it is over."""

from __future__ import annotations

import shutil
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

_PARTIAL: Final = ".partial"
_PLAN: Final = "plan"


class PartialTraining:
    """A folder of values by name, so that the same command goes on after it was killed.

    `said` is all that the training depends on, its data included: of another one nothing is taken.
    The folder is made when the first value is written.
    """

    def __init__(self, folder: Path, said: object) -> None:
        self.place = folder.absolute().with_name(folder.name + _PARTIAL)
        content = msgspec.json.encode(said, order="deterministic")
        self._mark = blake2b(content, digest_size=16).hexdigest()
        self.is_resumed = self.read(_PLAN, str) == self._mark
        if not self.is_resumed:
            self.remove()

    def read(self, name: str, kind: Any) -> Any:
        """Return what was written under a name, None if nothing was."""
        try:
            return msgspec.json.decode((self.place / f"{name}.json").read_bytes(), type=kind)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, name: str, value: Any) -> None:
        """Write a value, whole or not at all."""
        self._replace(f"{name}.json", msgspec.json.encode(value))

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.place, ignore_errors=True)

    def begin(self) -> None:
        """Make the folder, unless it is there."""
        if not self.place.exists():
            self.place.mkdir(parents=True)
            self.write(_PLAN, self._mark)

    def _replace(self, name: str, data: bytes) -> None:
        self.begin()
        fresh = self.place / f".{name}"
        fresh.write_bytes(data)
        fresh.replace(self.place / name)
