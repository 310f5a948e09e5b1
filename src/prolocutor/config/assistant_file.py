"""Which file an assistant is read from: a path, the `assistant.yaml` of a folder, or the demo's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from prolocutor.config.loading import load
from prolocutor.config.settings import Settings
from prolocutor.errors import ConfigError, MissingExtra

DEMO_PACKAGE: Final = "prolocutor_demo"
FILE_NAME: Final = "assistant.yaml"


def demo_file() -> Path:
    """Return the file of the demo assistant, which is a package of its own.

    Raise `MissingExtra` where it is not installed.
    """
    spec = find_spec(DEMO_PACKAGE)
    if spec is None or spec.origin is None:
        what = "the demo assistant is a package of its own: pip install 'prolocutor[demo]'"
        raise MissingExtra(f"{what}, or name a file; prolocutor new DIR writes one")
    return _demo_file(spec.origin)


def is_demo(file: Path) -> bool:
    """Return whether a file is that of the demo assistant."""
    spec = find_spec(DEMO_PACKAGE)
    return spec is not None and spec.origin is not None and file == _demo_file(spec.origin)


def assistant_file(given: Path | None) -> Path:
    """Return the file of an assistant: as given, the assistant.yaml of a folder, else the demo's.

    Raise `ConfigError` if there is none.
    """
    if given is None:
        return demo_file()
    path = given / FILE_NAME if given.is_dir() else given
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file; prolocutor new DIR writes one")
    return path


def _demo_file(package: str) -> Path:
    return Path(package).parent / "assistant" / FILE_NAME


def load_assistant(given: Path | None) -> Settings:
    """Load the settings of an assistant's file, else the demo's; their `file` is absolute."""
    return load(assistant_file(given).absolute())
