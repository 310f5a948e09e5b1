"""Connectors are known by name, by the scheme of an address, or by the form of a target."""

import subprocess
import sys
from typing import Any

import pytest

from prolocutor.connectors.connector_catalog import CONNECTORS, make_options
from prolocutor.connectors.http import HttpService
from prolocutor.connectors.process import FunctionProcess
from prolocutor.connectors.python import PythonFunction
from prolocutor.errors import ConfigError, MissingExtra
from prolocutor.plan.pipeline import Call
from prolocutor.plugins.openai.chat import ChatModel


def connector_structs() -> list[Any]:
    structs = []
    for name in CONNECTORS.names():
        try:
            structs.append(CONNECTORS.load(name))
        except MissingExtra:
            continue
    return structs


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call(print), PythonFunction(function=print)),
        (
            Call("json:dumps", None, {"inline": True}),
            PythonFunction(function="json:dumps", inline=True),
        ),
        (Call("json:dumps", "process"), FunctionProcess(function="json:dumps")),
        (
            Call("http://h/", None, {"wire": "deeppavlov"}),
            HttpService(url="http://h/", wire="deeppavlov"),
        ),
        (Call(ChatModel(url="http://h", model="m")), ChatModel(url="http://h", model="m")),
    ],
)
def test_a_call_gives_the_options_of_its_connector(call: Call, expected: object) -> None:
    assert make_options(call) == expected


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (Call("", "htpp"), r"there is no connector 'htpp'; did you mean 'http'\?"),
        (Call("json:dumps", "process", {"wire": "native"}), "it has no option 'wire'"),
        (Call("http://h", None, {"wire": "dream"}), "expected native or deeppavlov, found 'dream'"),
        (Call("", "openai_chat"), "url"),
    ],
)
def test_invalid_options_of_a_connector_are_refused(call: Call, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make_options(call)


@pytest.mark.parametrize("struct", connector_structs())
def test_every_option_is_described(struct: Any) -> None:
    from_file = [key for key in struct.__struct_fields__ if key not in ("name", struct.rest)]

    assert struct.main in from_file
    assert struct.__doc__


def test_the_catalog_alone_loads_no_connector() -> None:
    code = (
        "import sys, prolocutor.connectors.connector_catalog;"
        " print('prolocutor.connectors.http' in sys.modules)"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "False\n"
