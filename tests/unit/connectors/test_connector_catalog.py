"""Connectors are known by name and imported when asked for."""

import subprocess
import sys

import pytest

from prolocutor.connectors.connector_catalog import CONNECTORS
from prolocutor.connectors.http import HttpConnector
from prolocutor.connectors.process import ProcessConnector
from prolocutor.connectors.python import PythonConnector
from prolocutor.errors import ConfigError


@pytest.mark.parametrize(
    ("kind", "target", "expected"),
    [
        ("python", print, PythonConnector),
        ("process", "json:dumps", ProcessConnector),
        ("http", "http://127.0.0.1:1/", HttpConnector),
    ],
)
def test_a_name_gives_its_connector(kind: str, target: object, expected: type) -> None:
    assert type(CONNECTORS.make(kind, target, name="x")) is expected


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(ConfigError, match=r"there is no connector 'htpp'; did you mean 'http'\?"):
        CONNECTORS.make("htpp", "", name="x")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'process' cannot be made: .*'wire'"):
        CONNECTORS.make("process", "json:dumps", name="x", wire="native")


def test_the_catalog_alone_loads_no_connector() -> None:
    code = "import sys, prolocutor.connectors.connector_catalog; print('aiohttp' in sys.modules)"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "False\n"
