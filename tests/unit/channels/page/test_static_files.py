"""The files of the page: whole, its own, and without a way for text to become anything else."""

import re

import pytest

from prolocutor.channels.page.static_files import (
    FOLDER,
    POLICY,
    TYPES,
    CachedCopy,
    FilePath,
    StaticFiles,
)
from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import NotFound
from prolocutor.web.authentication import ANONYMOUS
from prolocutor.web.operations import TypedRequest

SCRIPTS = sorted(FOLDER.glob("*.js"))


async def answer(file: str, etag: str | None = None) -> HttpResponse:
    request = TypedRequest(ANONYMOUS, FilePath(file=file, etag=etag), None)
    return await StaticFiles("Ann's <assistant>").page_file(request)


async def test_the_index_names_the_assistant_as_text() -> None:
    index = await StaticFiles("Ann's <assistant>").page(TypedRequest(ANONYMOUS, CachedCopy(), None))

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
    again = await answer("app.js", first.headers["ETag"])

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
