"""Icons: the pictures of services."""

from pathlib import Path

import pytest

from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import NotFound
from prolocutor.plan.pipeline import Service
from prolocutor.web.authentication import ANONYMOUS
from prolocutor.web.builtin_routes import MAX_BYTES, IconName, Icons
from prolocutor.web.operations import TypedRequest


async def show(icon: str | None, name: str = "clock") -> HttpResponse:
    icons = Icons([Service("clock", print, icon=icon), Service("x", print)])
    return await icons.show_icon(TypedRequest(ANONYMOUS, IconName(name), None))


async def test_an_icon_file_is_served_with_its_own_type(tmp_path: Path) -> None:
    (tmp_path / "clock.svg").write_bytes(b"<svg/>")

    shown = await show(str(tmp_path / "clock.svg"))

    assert shown.body == b"<svg/>"
    assert shown.content_type == "image/svg+xml"
    assert "sandbox" in shown.headers["Content-Security-Policy"]


async def test_an_address_is_where_the_picture_is() -> None:
    shown = await show("https://example.org/clock.png")

    assert shown.status == 302
    assert shown.headers == {"Location": "https://example.org/clock.png"}


@pytest.mark.parametrize("name", ["x", "nobody", "../clock"])
async def test_who_has_none_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        await show("https://example.org/clock.png", name)


@pytest.mark.parametrize(
    ("file", "content"),
    [("clock.py", b"print()"), ("gone.png", None), ("big.png", b"x" * (MAX_BYTES + 1))],
)
async def test_a_file_other_than_a_picture_is_not_shown(
    file: str, content: bytes | None, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / file).write_bytes(content)

    with pytest.raises(NotFound):
        await show(str(tmp_path / file))
