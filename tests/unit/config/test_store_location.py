import sys
from pathlib import Path

import pytest

from prolocutor.config import assistant_file, store_location
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

    assert assistant_file.assistant_file(None) == assistant_file.demo_file()
    assert assistant_file.assistant_file(tmp_path) == tmp_path / "assistant.yaml"
    assert assistant_file.demo_file().is_file()


def test_a_store_is_as_given_else_the_files_else_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert store_location.store_url("memory:", "sqlite:///a.db") == "memory:"
    assert store_location.store_url("memory") == "memory"
    assert store_location.store_url("my.db") == f"sqlite:///{tmp_path}/my.db"
    assert store_location.store_url(None, "sqlite:///a.db") == "sqlite:///a.db"
    assert store_location.store_url(None) == f"sqlite:///{tmp_path}/prolocutor/prolocutor.db"


def test_a_sqlite_url_names_a_file_and_others_do_not() -> None:
    assert store_location.sqlite_file("sqlite:///a.db") == Path("a.db")
    assert store_location.sqlite_file("sqlite:////var/a.db") == Path("/var/a.db")
    assert store_location.sqlite_file("memory:") is None


def test_where_the_demo_is_not_installed_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "prolocutor_demo", None)

    with pytest.raises(MissingExtra, match=r"pip install 'prolocutor\[demo\]'"):
        assistant_file.load_assistant(None)
