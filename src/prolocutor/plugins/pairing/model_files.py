"""Model files: a trained router or ranker as a folder without code.

A folder holds `model.json` (readable: what it is, settings, the training card, a checksum of every
other file and of itself), `<name>.json` for lists of texts and the like, and `<name>.npy` for
arrays, in NumPy's format 1.0 without pickle. A folder is written under another name and renamed
when complete; nothing in it is ever executed. A model without arrays needs no NumPy.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from stat import S_ISREG
from tempfile import mkdtemp
from typing import Any, Final, Literal

import msgspec

from prolocutor.dialog.ids import timestamp
from prolocutor.errors import ConfigError, NotFound

FORMAT: Final = "prolocutor-model"
VERSION: Final = 1
HEAD: Final = "model.json"
MAX_HEAD: Final = 50_000_000
MAX_PART: Final = 4_000_000_000
"""Bytes of the largest file that is read."""

_DTYPES: Final = frozenset(("<f4", "<f8", "<i4", "<i8", "|u1"))
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


class TrainingCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The origin of a model: name and hash of its data; `scores` are [value, low, high]."""

    date: str
    examples: int
    data: str = ""
    data_hash: str = ""
    scores: dict[str, tuple[float, float, float]] = {}
    note: str = ""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model as it is stored. `role`: router or ranker; `method`: its name in the catalog.

    `agents` are the names of known agents. `parts` are JSON values, `arrays` NumPy arrays, little
    endian and in C order. `id` is computed from the content when it is loaded: equal content, equal
    id.
    """

    role: Literal["router", "ranker"]
    method: str
    agents: list[str]
    settings: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    card: TrainingCard
    id: str = ""


class _Head(msgspec.Struct, kw_only=True):
    format: str = FORMAT
    version: int = VERSION
    made_by: str = ""
    role: Literal["router", "ranker"]
    method: str
    agents: list[str]
    settings: dict[str, Any]
    card: TrainingCard
    files: dict[str, str]
    checksum: str = ""


class _Format(msgspec.Struct):
    format: str = ""
    version: int = 0


# Made at import, as models are read in several threads: msgspec may crash where two threads are the
# first to use a type.
_decode_format: Final = msgspec.json.Decoder(_Format).decode
_decode_head: Final = msgspec.json.Decoder(_Head).decode


def training_card(examples: int, **known: Any) -> TrainingCard:
    """Return the card of a new model."""
    return TrainingCard(date=timestamp()[:19], examples=examples, **known)


def check_place(folder: str | Path) -> None:
    """Raise `ConfigError` if no model can be written to a path, because it has other content."""
    place = Path(folder).absolute()
    is_other = place.is_file() or (place.is_dir() and any(place.iterdir()))
    if not place.name or (is_other and not (place / HEAD).is_file()):
        raise ConfigError("is not a folder of a model and is not overwritten", file=str(place))


def save_model(folder: str | Path, model: Model) -> str:
    """Write a model's folder, replacing an older model, and return the model's id.

    `ConfigError` if the folder holds something else.
    """
    check_place(folder)
    place = Path(folder).absolute()
    with _fresh_folder(place) as fresh:
        files = {f"{name}.json": _json(value) for name, value in model.parts.items()}
        files |= {f"{name}.npy": _npy(array) for name, array in model.arrays.items()}
        for name, data in files.items():
            if not _NAME.fullmatch(name.partition(".")[0]) or name == HEAD:
                raise ValueError(f"{name!r} is not the name of a part")
            (fresh / name).write_bytes(data)
        head = _Head(
            made_by=f"prolocutor {version('prolocutor')}",
            role=model.role,
            method=model.method,
            agents=model.agents,
            settings=model.settings,
            card=model.card,
            files={name: sha256(data).hexdigest() for name, data in sorted(files.items())},
        )
        head.checksum = _checksum(head)
        (fresh / HEAD).write_bytes(msgspec.json.format(_json(head), indent=2) + b"\n")
    return _id(head)


def is_vacant(folder: Path) -> bool:
    """Return whether a folder is missing or empty."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def load_model(folder: str | Path) -> Model:
    """Read a model's folder; raise `NotFound` without a model, `ConfigError` for damage."""
    place = Path(folder)
    head = _head(place)
    parts: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for name, checksum in head.files.items():
        stem, _, ending = name.partition(".")
        if not _NAME.fullmatch(stem) or ending not in ("json", "npy"):
            what = f"names a file {name!r} that is not part of a model"
            raise ConfigError(what, file=str(place / HEAD))
        data = _read(place / name, MAX_PART)
        if sha256(data).hexdigest() != checksum:
            what = "is not as it was saved (its checksum differs); train or copy the model again"
            raise ConfigError(what, file=str(place / name))
        if ending == "json":
            parts[stem] = _part(data, place / name)
        else:
            arrays[stem] = _array(data, place / name)
    return msgspec.structs.replace(_bare_model(head), parts=parts, arrays=arrays)


def install_model(source: Path, folder: Path) -> None:
    """Replace a model's folder by a copy of another; raise `ConfigError` if it cannot be read.

    A reader finds the old model or the new model, or for a moment no model.
    """
    load_model(source)
    with _fresh_folder(folder.absolute()) as fresh:
        for name in (HEAD, *_head(source).files):
            shutil.copyfile(source / name, fresh / name)


def head_of_model(folder: Path) -> Model:
    """Return a model without its parts and arrays; `NotFound` and `ConfigError` as `load_model`."""
    return _bare_model(_head(folder))


def _bare_model(head: _Head) -> Model:
    return Model(
        role=head.role,
        method=head.method,
        agents=head.agents,
        settings=head.settings,
        card=head.card,
        id=_id(head),
    )


def agents_that_differ(model: Model, present: Mapping[str, Any]) -> list[str]:
    """Return warnings for agents removed and agents added since a model was trained."""
    left = [name for name in model.agents if name not in present]
    came = [name for name in present if name not in model.agents]
    warnings = []
    if left:
        warnings.append(f"the model {model.id} knows agents that are gone: {', '.join(left)}")
    if came:
        what = "does not know, and judges by their cards alone"
        warnings.append(f"there are agents that the model {model.id} {what}: {', '.join(came)}")
    return warnings


def _head(folder: Path) -> _Head:
    file = folder / HEAD
    if not file.is_file():
        raise NotFound(f"{file}: there is no model; prolocutor train makes one", field="model")
    data = _read(file, MAX_HEAD)
    try:
        kind = _decode_format(data)
        if kind.format == FORMAT and kind.version == VERSION:
            head = _decode_head(data)
            if head.checksum != _checksum(head):
                what = "was changed after it was saved (its checksum differs); train it again"
                raise ConfigError(what, file=str(file))
            return head
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ConfigError(f"is not the head of a model: {error}", file=str(file)) from None
    if kind.format != FORMAT:
        raise ConfigError(f"is not of the format {FORMAT}", file=str(file))
    what = f"is of version {kind.version}, and this prolocutor reads {VERSION}; train it again"
    raise ConfigError(what, file=str(file), key="version")


def _part(data: bytes, file: Path) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ConfigError(f"is not part of a model: {error}", file=str(file)) from None


def _checksum(head: _Head) -> str:
    bare = msgspec.structs.replace(head, checksum="")
    return sha256(msgspec.json.encode(bare, order="sorted")).hexdigest()


def _id(head: _Head) -> str:
    return f"{head.method}-{head.checksum[:12]}"


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _read(file: Path, most: int) -> bytes:
    """Read an ordinary file; refuse an endless pipe, and a file too large for the memory."""
    try:
        found = file.stat()
        if not S_ISREG(found.st_mode):
            raise ConfigError("is not an ordinary file", file=str(file))
        if found.st_size > most:
            what = f"has {found.st_size:,} bytes, and a model at most {most:,} in one file"
            raise ConfigError(what, file=str(file))
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=str(file)) from None


@contextmanager
def _fresh_folder(place: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of another if no error occurs.

    Between two renames the folder is missing for a moment.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        yield fresh
        fresh.chmod(0o755)
        old = fresh.with_name(f"{fresh.name}-old")
        if place.exists():
            place.rename(old)
        fresh.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _npy(array: Any) -> bytes:
    from numpy.lib import format as npy

    stream = BytesIO()
    npy.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _array(data: bytes, file: Path) -> Any:
    """Return the read-only array of a file."""
    import numpy as np
    from numpy.lib import format as npy

    stream = BytesIO(data)
    try:
        if npy.read_magic(stream) == (1, 0):
            shape, is_fortran, dtype = npy.read_array_header_1_0(stream)
            if not is_fortran and dtype.str in _DTYPES:
                return np.frombuffer(data[stream.tell() :], dtype).reshape(shape)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    raise ConfigError("is not an array of a kind that models have", file=str(file))
