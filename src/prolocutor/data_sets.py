"""Data sets by kind: what `KIND:PATH` means.

Another package adds a kind through an entry point in the group `prolocutor.data`: name -> the
Struct of its options, which builds it (`DataOptions`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.contracts.teacher import EpisodeSource
from prolocutor.errors import BadData, BadInput, NotFound

OnFault = Callable[[BadData], None]
"""Called with a part of the data that cannot be read; if it returns, the part is left out."""


def refuse(fault: BadData) -> None:
    """Raise the fault; the default of `on_fault`."""
    raise fault


class DataPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where data are: `path` of `spec`, which is `KIND:PATH`, and the part `fold` of them."""

    spec: str
    path: str
    fold: str = "train"
    on_fault: OnFault = refuse

    def file(self, suffix: str) -> Path:
        """Return the file that `path` means, of a kind whose files have this suffix.

        That is PATH, else `PATH_<fold>` with the ending, else the file `<fold>` with that ending in
        the folder PATH. `NotFound` names all the places.
        """
        path = Path(self.path)
        places = [path, Path(f"{path}_{self.fold}{suffix}"), path / f"{self.fold}{suffix}"]
        for place in places:
            if place.is_file():
                return place
        tried = ", ".join(map(str, places[1:]))
        raise NotFound(f"{path}: there is no such file, nor {tried}", field="data")


@runtime_checkable
class DataOptions(Protocol):
    """The options of a kind of data: a frozen `msgspec.Struct` with keywords only.

    The class variable `suffix` of a kind that is a file has the ending of its names.
    """

    def build(self, place: DataPlace) -> EpisodeSource:
        """Make the data set, without reading it."""


DATA: Final = Catalog[type[DataOptions]](
    "kind of data", "prolocutor.data", key="data", error=BadInput
)


def split(data: str) -> tuple[str, str]:
    """Take `KIND:PATH` apart."""
    kind, colon, path = data.partition(":")
    if not colon:
        raise BadInput(f"{data!r} is not KIND:PATH, such as jsonl:questions.jsonl", field="data")
    return kind, path


def open_source(
    data: str, fold: str = "train", *, on_fault: OnFault = refuse, **options: Any
) -> EpisodeSource:
    """Make the data set that `KIND:PATH` means; raise `BadInput` for an unknown kind or option."""
    kind, path = split(data)
    type_: Any = DATA.load_checked(kind, **options)
    try:
        made: DataOptions = msgspec.convert(options, type_, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"the kind of data {kind!r} cannot be made: {error}", field="data") from None
    return made.build(DataPlace(spec=data, path=path, fold=fold, on_fault=on_fault))


def file_suffix(kind: str) -> str | None:
    """Return the suffix of a kind's files; None for a kind that is not a file."""
    return getattr(DATA.load(kind), "suffix", None)
