import re
import sys
from pathlib import Path

import pytest

from prolocutor.config import loading, store_location
from prolocutor.config.loading import load
from prolocutor.config.settings import Settings
from prolocutor.errors import ConfigError, MissingExtra


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"XDG_DATA_HOME": "/data"}, "linux", Path("/data/prolocutor")),
        ({"XDG_DATA_HOME": "/data"}, "darwin", Path("/data/prolocutor")),
        ({"XDG_DATA_HOME": "relative"}, "linux", Path.home() / ".local/share/prolocutor"),
        ({}, "linux", Path.home() / ".local/share/prolocutor"),
        ({}, "darwin", Path.home() / "Library/Application Support/prolocutor"),
        ({"LOCALAPPDATA": "/apps"}, "win32", Path("/apps/prolocutor")),
    ],
)
def test_the_data_folder_is_where_the_platform_has_it(
    environ: dict[str, str], platform: str, expected: Path
) -> None:
    assert store_location.data_folder(environ, platform) == expected


def test_the_data_folder_is_made_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "new"))

    folder = store_location.made_data_folder()

    assert folder == tmp_path / "new" / "prolocutor"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_data_folder_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))

    with pytest.raises(ConfigError, match=r"cannot be made .*; set XDG_DATA_HOME, or say --store"):
        store_location.made_data_folder()


def test_no_file_means_the_demo_and_a_folder_its_assistant(tmp_path: Path) -> None:
    (tmp_path / "assistant.yaml").touch()

    assert loading.assistant_file(None) == loading.demo_file()
    assert loading.assistant_file(tmp_path) == tmp_path / "assistant.yaml"
    assert loading.demo_file().is_file()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's data folder; the current one is beside it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "prolocutor"


def written(folder: Path, name: str = "assistant.yaml", **settings: str) -> Settings:
    folder.mkdir(exist_ok=True)
    lines = [f"{key}: {value}" for key, value in settings.items()]
    (folder / name).write_text("\n".join(["skills: {a: 'http://localhost'}", *lines]))
    return load(folder / name)


def test_a_store_is_as_given_else_the_files_else_the_demos(data: Path) -> None:
    settings = written(data.parent / "a", store="sqlite:////var/a.db")

    assert store_location.store_url("memory:", settings) == "memory:"
    assert store_location.store_url("memory") == "memory"
    assert store_location.store_url("my.db") == f"sqlite:///{data.parent}/my.db"
    assert store_location.store_url(None, settings) == "sqlite:////var/a.db"
    assert store_location.store_url("a/assistant.yaml") == "sqlite:////var/a.db"
    assert store_location.store_url("a") == "sqlite:////var/a.db"
    assert store_location.store_url(None) == f"sqlite:///{data}/prolocutor.db"


def test_the_demo_keeps_the_common_store(data: Path) -> None:
    demo = loading.load_assistant(None)

    assert store_location.store_url(None, demo) == f"sqlite:///{data}/prolocutor.db"


def test_files_that_name_no_store_never_share_one(data: Path) -> None:
    files = [(data.parent / "a", "assistant.yaml"), (data.parent / "a", "b.yaml"),
             (data.parent / "b", "assistant.yaml"), (data.parent / "b", "b.yaml")]  # fmt: skip

    urls = [store_location.store_url(None, written(*file)) for file in files]
    found = [re.fullmatch(rf"sqlite:///{data}/(.+)-[0-9a-f]{{8}}\.db", url) for url in urls]

    assert [one and one[1] for one in found] == ["a", "b", "b", "b"]
    assert len({*urls}) == 4
    (data.parent / "link").symlink_to(data.parent / "a")
    assert sqlite_of(data.parent / "link")[-11:] == urls[0][-11:]


def sqlite_of(folder: Path) -> str:
    return store_location.store_url(str(folder))


def test_where_earlier_dialogs_are_is_said_once(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = written(data.parent / "a")
    own = Path(store_location.store_url(None, settings).removeprefix("sqlite:///"))
    assert caplog.messages == []

    (data / "prolocutor.db").touch()
    store_location.store_url(None, settings)
    own.touch()
    store_location.store_url(None, settings)

    (said,) = caplog.messages
    assert f"prolocutor store copy {data}/prolocutor.db {own}" in said


def test_a_sqlite_url_names_a_file_and_others_do_not() -> None:
    assert store_location.sqlite_file("sqlite:///a.db") == Path("a.db")
    assert store_location.sqlite_file("sqlite:////var/a.db") == Path("/var/a.db")
    assert store_location.sqlite_file("memory:") is None


def test_where_the_demo_is_not_installed_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "prolocutor_demo", None)

    with pytest.raises(MissingExtra, match=r"pip install 'prolocutor\[demo\]'"):
        loading.load_assistant(None)
