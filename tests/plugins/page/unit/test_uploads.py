"""Pictures that people upload."""

import asyncio
from pathlib import Path

import pytest

from prolocutor.errors import BadInput, NotFound, StoreError
from prolocutor.plugins.page import uploads
from prolocutor.plugins.page.uploads import FolderPictures, StorePictures, Uploads
from tests.model_store import ModelStore

PNG = b"\x89PNG\r\n\x1a\n..."


@pytest.fixture
def store() -> ModelStore:
    return ModelStore()


@pytest.mark.parametrize(
    ("body", "suffix", "kind"),
    [
        (PNG, "png", "image/png"),
        (b"\xff\xd8\xff\xe0..", "jpg", "image/jpeg"),
        (b"GIF89a...", "gif", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp", "image/webp"),
        (b"%PDF-1.7 ...", "pdf", "application/pdf"),
        ("süß".encode(), "txt", "text/plain; charset=utf-8"),
    ],
)
async def test_a_file_is_known_by_its_first_bytes_and_a_text_by_its_type(
    store: ModelStore, tmp_path: Path, body: bytes, suffix: str, kind: str
) -> None:
    kept = Uploads(store, FolderPictures(tmp_path / "new" / "folder"))

    name = await kept.store("ann", body, "Text/Plain; charset=UTF-8")
    shown = await kept.show(name)

    assert name.endswith(f".{suffix}")
    assert shown.body == body
    assert shown.content_type == kind
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in shown.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "body", [b"", b"<svg onload=x>", b"<html>", b"PDF-1.7", b"RIFF\0\0\0\0WAVE"]
)
async def test_nothing_else_is_taken(store: ModelStore, tmp_path: Path, body: bytes) -> None:
    with pytest.raises(BadInput):
        await Uploads(store, FolderPictures(tmp_path)).store("ann", body)

    assert names(tmp_path) == set()


@pytest.mark.parametrize("body", [b"a\0b", b"\xff\xfea\0"])
async def test_what_is_no_text_is_not_taken_as_text(store: ModelStore, body: bytes) -> None:
    with pytest.raises(BadInput, match=r"texts in UTF-8"):
        await Uploads(store, FolderPictures()).store("ann", body, "text/csv")


@pytest.mark.parametrize("name", ["", "x.png", "../secret.png", f"{'0' * 32}.png", "0" * 32])
async def test_what_was_not_uploaded_is_not_found(
    store: ModelStore, tmp_path: Path, name: str
) -> None:
    (tmp_path / "x.png").write_bytes(PNG)

    with pytest.raises(NotFound):
        await Uploads(store, FolderPictures(tmp_path)).show(name)


async def test_a_picture_goes_with_its_person(store: ModelStore, tmp_path: Path) -> None:
    kept = Uploads(store, FolderPictures(tmp_path))
    mine, yours = await asyncio.gather(kept.store("ann", PNG), kept.store("bob", PNG))
    await store.delete_person("ann")

    with pytest.raises(NotFound):
        await kept.show(mine)
    assert (await kept.show(yours)).body == PNG
    assert names(tmp_path) == {yours, f"{yours}.owner"}


async def test_what_is_left_of_the_deleted_is_swept_away(store: ModelStore, tmp_path: Path) -> None:
    kept = Uploads(store, FolderPictures(tmp_path))
    await kept.store("ann", PNG)
    name = await kept.store("bob", PNG)
    await store.delete_person("ann")
    await kept.sweep()

    assert names(tmp_path) == {name, f"{name}.owner"}


async def test_a_person_has_only_so_many(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_PICTURES", 2)
    kept = Uploads(store, FolderPictures(tmp_path))
    first, second, third = [await kept.store("ann", PNG) for _ in range(3)]

    with pytest.raises(NotFound):
        await kept.show(first)
    assert [(await kept.show(name)).status for name in (second, third)] == [200, 200]


async def test_without_a_folder_they_live_as_long_as_the_door(store: ModelStore) -> None:
    kept = Uploads(store, FolderPictures())
    name = await kept.store("ann", PNG)
    assert (await kept.show(name)).body == PNG
    kept.close()

    with pytest.raises(NotFound):
        await kept.show(name)
    kept.close()


async def test_a_folder_that_cannot_be_written_is_named(store: ModelStore, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(StoreError, match=str(file)):
        await Uploads(store, FolderPictures(file)).store("ann", PNG)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_where_the_store_is_shared_pictures_are_in_it(store: ModelStore) -> None:
    one, other = (Uploads(store, StorePictures(store)) for _ in range(2))
    mine, yours = await one.store("ann", PNG), await one.store("bob", PNG)
    assert (await other.show(mine)).body == PNG
    await store.delete_person("ann")
    await other.sweep()

    with pytest.raises(NotFound):
        await one.show(mine)
    assert (await other.show(yours)).body == PNG
    kinds = [f"picture-owners-{number}" for number in range(64)]
    lists = [await store.records("", kind) for kind in kinds]
    assert [name for names in lists for name in names] == [yours]
    assert await store.delete_person("bob")
    with pytest.raises(NotFound):
        await other.show(yours)
