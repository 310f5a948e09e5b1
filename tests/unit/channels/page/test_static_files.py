"""The files of the page: whole, its own, and without a way for text to become anything else."""

import re
from typing import Any

import pytest

from prolocutor.channels.page.static_files import FOLDER, POLICY, TYPES, StaticFiles
from prolocutor.contracts.channel import HttpResponse
from prolocutor.errors import NotFound

SCRIPTS = sorted(FOLDER.glob("*.js"))


class Asked:
    """A request for a file."""

    def __init__(self, file: str = "", **headers: str) -> None:
        self.params = {"file": file}
        self.header = headers.get


async def answer(file: str, **headers: str) -> HttpResponse:
    asked: Any = Asked(file, **headers)
    return await StaticFiles("Ann's <assistant>").one(asked)


async def test_the_index_names_the_assistant_as_text() -> None:
    asked: Any = Asked()
    index = await StaticFiles("Ann's <assistant>").index(asked)

    assert isinstance(index.body, bytes)
    assert b"<title>Ann&#x27;s &lt;assistant&gt;</title>" in index.body
    assert index.headers["Content-Security-Policy"] == POLICY


def test_the_policy_lets_nothing_inline_run() -> None:
    assert "unsafe" not in POLICY
    assert "data:" not in POLICY
    assert "blob:" not in POLICY
    assert "script-src 'self';" in POLICY


async def test_a_file_that_the_browser_has_is_not_sent_again() -> None:
    first = await answer("app.js")
    again = await answer("app.js", **{"if-none-match": first.headers["ETag"]})

    assert (first.status, first.content_type) == (200, "text/javascript; charset=utf-8")
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("name", ["", "none.js", "../files.py", "vendor", "/etc/passwd"])
async def test_there_are_no_other_files(name: str) -> None:
    with pytest.raises(NotFound):
        await answer(name)


def test_every_file_can_be_served() -> None:
    assert {path.suffix for path in FOLDER.rglob("*") if path.is_file()} <= TYPES.keys()


def test_everything_that_is_named_is_there() -> None:
    index = (FOLDER / "index.html").read_text()
    named = {FOLDER / name for name in re.findall(r'"/page/([^"]+)"', index)}
    for script in FOLDER.rglob("*.*js"):
        named |= {
            script.parent / name for name in re.findall(r'from ?"([^"]+)"', script.read_text())
        }

    assert [path for path in named if not path.is_file()] == []


@pytest.mark.parametrize("script", [script.name for script in SCRIPTS])
def test_no_script_makes_html_of_text(script: str) -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|__html"

    assert re.findall(ways, FOLDER.joinpath(script).read_text()) == []


def test_what_is_borrowed_has_its_licence_beside_it() -> None:
    vendor = FOLDER / "vendor"
    told = (vendor / "README.md").read_text()

    for script in vendor.glob("*.mjs"):
        (licence,) = re.findall(rf"`{script.name}` .*`(.+\.LICENSE\.txt)`", told)
        assert (vendor / licence).is_file()
