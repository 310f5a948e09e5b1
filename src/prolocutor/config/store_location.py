"""Where a store is: at the given URL, that of the assistant's file, or the user's data folder."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from prolocutor.errors import ConfigError

STORE_NAME: Final = "prolocutor.db"

_URL: Final = re.compile(r"memory$|[a-z][a-z0-9+.-]+:")

_PASSWORD: Final = re.compile(r"(?<=://)([^:/@?#]*):[^@]*@|(?<=[?&])(?:ssl)?password=[^&#]*&?")


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


def store_url(given: str | None, of_file: str | None = None) -> str:
    """Return the URL of the store: the given one, that of the file, or the user's own.

    What is given may also be the path of a SQLite file.
    """
    if given is None:
        return of_file or sqlite_url(made_data_folder() / STORE_NAME)
    return given if _URL.match(given) else sqlite_url(Path(given))


def sqlite_url(path: Path) -> str:
    """Write the URL of a SQLite file."""
    return f"sqlite:///{path.absolute()}"


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite store; None for stores of another kind."""
    scheme, _, rest = url.partition(":")
    return Path(rest.removeprefix("//").removeprefix("/")) if scheme == "sqlite" else None


def without_password(url: str) -> str:
    """Return the URL of a store as it may be shown and logged."""
    shown = _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] is not None else "", url)
    return shown.rstrip("?&")
