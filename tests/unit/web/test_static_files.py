"""The files of the pages: whole, their own, and without a way for text to become anything else."""

import gzip
import re
from pathlib import Path

import pytest

from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import NotFound
from prolocutor.plugins.console.static_pages import FOLDER as CONSOLE
from prolocutor.plugins.page.channel import FOLDER as CHAT
from prolocutor.web.authentication import ANONYMOUS
from prolocutor.web.operations import TypedRequest
from prolocutor.web.static_files import (
    OWN_POLICY,
    POLICY,
    SHARED,
    TYPES,
    CachedCopy,
    FilePath,
    StaticFiles,
)

PAGES = [("page", CHAT), ("console/files", CONSOLE)]
SCRIPTS = sorted(path for folder in (SHARED, CHAT, CONSOLE) for path in folder.glob("*.js"))


def a_page() -> StaticFiles:
    return StaticFiles(CHAT, "Ann's <assistant>")


async def answer(file: str, etag: str | None = None) -> HttpResponse:
    request = TypedRequest(ANONYMOUS, FilePath(file=file, etag=etag), None)
    return await a_page().page_file(request)


async def test_the_index_names_the_assistant_as_text() -> None:
    index = await a_page().page(TypedRequest(ANONYMOUS, CachedCopy(), None))

    assert isinstance(index.body, bytes)
    assert b"<title>Ann&#x27;s &lt;assistant&gt;</title>" in index.body
    assert index.headers["Content-Security-Policy"] == POLICY


@pytest.mark.parametrize("policy", [POLICY, OWN_POLICY])
def test_a_policy_lets_nothing_inline_run(policy: str) -> None:
    assert "unsafe" not in policy
    assert "data:" not in policy
    assert "blob:" not in policy
    assert "script-src 'self';" in policy


def test_the_console_shows_no_picture_from_elsewhere() -> None:
    assert "img-src 'self';" in OWN_POLICY
    assert "http" not in OWN_POLICY


async def test_a_file_that_the_browser_has_is_not_sent_again() -> None:
    first = await answer("app.js")
    again = await answer("app.js", first.headers["ETag"])

    assert first.status == 200
    assert first.content_type == "text/javascript; charset=utf-8"
    assert again.status == 304
    assert again.body == b""


async def test_a_file_is_packed_for_a_browser_that_can_unpack_it() -> None:
    plain = await answer("app.js")
    given = FilePath(file="app.js", encodings="gzip, br")
    packed = await a_page().page_file(TypedRequest(ANONYMOUS, given, None))
    cached = FilePath(file="app.js", encodings="gzip", etag=packed.headers["ETag"])
    again = await a_page().page_file(TypedRequest(ANONYMOUS, cached, None))

    for refusing in ("gzip;q=0", "br, gzip; q=0.0", "x-gzip2", ""):
        request = TypedRequest(ANONYMOUS, FilePath(file="app.js", encodings=refusing), None)
        assert "Content-Encoding" not in (await a_page().page_file(request)).headers
    assert isinstance(packed.body, bytes)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["ETag"] != plain.headers["ETag"]
    assert again.status == 304


@pytest.mark.parametrize("name", ["", "none.js", "../files.py", "vendor", "/etc/passwd"])
async def test_there_are_no_other_files(name: str) -> None:
    with pytest.raises(NotFound):
        await answer(name)


@pytest.mark.parametrize("folder", [SHARED, CHAT, CONSOLE])
def test_every_file_can_be_served(folder: Path) -> None:
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} <= TYPES.keys()


@pytest.mark.parametrize(("address", "folder"), PAGES)
def test_everything_that_is_named_is_there(address: str, folder: Path) -> None:
    files = {
        path.relative_to(root).as_posix(): path
        for root in (SHARED, folder)
        for path in root.rglob("*")
    }
    named = set(re.findall(f'"/{address}/([^"]+)"', (folder / "index.html").read_text()))
    for name, script in files.items():
        if script.suffix in (".js", ".mjs"):
            imported = re.findall(r'(?:from ?|import\(|import )"([^"]+)"', script.read_text())
            named |= {(Path(name).parent / one).as_posix() for one in imported}

    assert named - files.keys() == set()


def test_no_page_has_a_file_of_the_same_name_as_a_shared_one() -> None:
    shared = {path.name for path in SHARED.iterdir()}

    assert [
        path for page in (CHAT, CONSOLE) for path in page.iterdir() if path.name in shared
    ] == []


@pytest.mark.parametrize(
    "script", SCRIPTS, ids=lambda path: f"{path.parent.parent.name}-{path.name}"
)
def test_no_script_makes_html_of_text(script: Path) -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|__html"

    assert re.findall(ways, script.read_text()) == []


def test_borrowed_files_have_their_licence_beside_them() -> None:
    vendor = SHARED / "vendor"
    told = (vendor / "README.md").read_text()

    for script in vendor.glob("*.mjs"):
        (licence,) = re.findall(rf"`{script.name}` .*`(.+\.LICENSE\.txt)`", told)
        assert (vendor / licence).is_file()
