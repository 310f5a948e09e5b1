"""Where a store is: at the given URL, where the assistant's file says, or in the data folder."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

from prolocutor.config.loading import FILE_NAME, is_demo, load_assistant
from prolocutor.config.settings import Settings
from prolocutor.contracts.store import Store
from prolocutor.dialog.dialog import Dialog
from prolocutor.errors import ConfigError, StoreError
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.stores.store_catalog import open_store

log = logging.getLogger(__name__)


STORE_NAME: Final = "prolocutor.db"
"""The demo's store, once the store of all files without a `store`."""

_ASSISTANTS: Final = (".yaml", ".yml", ".json")
_URL: Final = re.compile(r"memory$|[a-z][a-z0-9+.-]+:")

_PASSWORD: Final = re.compile(r"(?<=://)([^:/@?#]*):[^@]*@|(?<=[?&])(?:ssl)?password=[^&#]*&?")

Dialogs = Callable[[], AbstractAsyncContextManager[AsyncIterator[Dialog]]]
"""Opens the dialogs for one pass, such as a store's `export()`, and closes them."""


def data_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return the user's folder for dialogs and history; it need not exist yet."""
    home = Path.home()
    if environ.get("XDG_DATA_HOME", "").startswith("/"):
        folder = Path(environ["XDG_DATA_HOME"])
    elif platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif platform == "win32":
        folder = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        folder = home / ".local" / "share"
    return folder / "prolocutor"


def made_data_folder() -> Path:
    """Return the user's data folder, made if it was missing; only its user may look inside."""
    folder = data_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the data folder {folder} cannot be made ({error.strerror}); "
            "set XDG_DATA_HOME, or say --store FILE"
        ) from None
    return folder


def store_url(given: str | None, settings: Settings | None = None) -> str:
    """Return the URL of a store: the given store, an assistant's, or the demo's.

    `given` may also be the path of a SQLite file, or of an assistant's file or folder.
    """
    if given is None:
        return _default_store(settings)
    if _URL.match(given):
        return given
    path = Path(given)
    if path.suffix in _ASSISTANTS or path.is_dir():
        return _default_store(load_assistant(path))
    return sqlite_url(path)


def _default_store(settings: Settings | None) -> str:
    if settings is not None and settings.store is not None:
        return settings.store
    folder = made_data_folder()
    if settings is None or not settings.file or is_demo(Path(settings.file)):
        return sqlite_url(folder / STORE_NAME)
    own, common = folder / _own_name(Path(settings.file)), folder / STORE_NAME
    if common.exists() and not own.exists():
        log.warning(
            "%s names no store, so its dialogs are kept in %s from now on. Earlier ones are in %s, "
            "with those of other files: prolocutor store copy %s %s takes all of them over",
            settings.file, own, common, common, own,
        )  # fmt: skip
    return sqlite_url(own)


def _own_name(file: Path) -> str:
    """Return the name of the store of a file: no two files have the same."""
    path = os.path.realpath(file)
    name = file.absolute().parent.name if file.name == FILE_NAME else file.stem
    return f"{name}-{hashlib.sha256(path.encode()).hexdigest()[:8]}.db"


def sqlite_url(path: Path) -> str:
    """Write the URL of a SQLite file."""
    return f"sqlite:///{path.absolute()}"


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite store; None for stores of another kind."""
    scheme, _, rest = url.partition(":")
    return Path(rest.removeprefix("//").removeprefix("/")) if scheme == "sqlite" else None


def hide_password(url: str) -> str:
    """Return the URL of a store as it may be shown and logged."""
    masked = _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] is not None else "", url)
    return masked.rstrip("?&")


def dialog_opener(store: str, user: str | None = None) -> Dialogs:
    """Return the opener of a store's dialogs, beside its owner; "" is the user's own store."""

    @asynccontextmanager
    async def open_dialogs() -> AsyncIterator[AsyncIterator[Dialog]]:
        async with open_for_reading(store or None) as archive:
            yield archive.export(user=user)

    return open_dialogs


@asynccontextmanager
async def open_for_reading(given: str | None) -> AsyncIterator[Store]:
    """Open the store for reading, beside an owner."""
    url = store_url(given)
    file = sqlite_file(url)
    if file is None:
        store = open_store(url)
    else:
        check_exists(file)
        store = SqliteStore(file, read_only=True)
    await store.open()
    try:
        yield store
    finally:
        await store.aclose()


def check_exists(file: Path) -> None:
    """Raise `StoreError` for a missing SQLite file."""
    if not file.is_file():
        raise StoreError(
            f"{file}: there are no dialogs here; --store names another place, "
            "and prolocutor ask or chat make some"
        )
