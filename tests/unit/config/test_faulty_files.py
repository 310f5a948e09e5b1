"""Each faulty file beside its exact message: `tests/data/faulty/NAME.yaml` and `NAME.txt`."""

from pathlib import Path

import pytest

from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from prolocutor.config.yaml_file import ConfigFaults

FOLDER = Path(__file__).parents[2] / "data" / "faulty"
FILES = sorted(FOLDER.glob("*.yaml"))
LOOKED_UP = ("unknown_function", "pairing", "doors")
"""Files that name what only a check looks for: functions, methods, doors, other files."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_faulty_file_gets_its_exact_message(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)

    report = check(file.name, environ={})

    assert not report.ok
    assert report.lines() == _expected(file)


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.stem not in LOOKED_UP], ids=lambda file: file.stem
)
def test_loading_a_faulty_file_says_the_same_as_checking_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)

    with pytest.raises(ConfigFaults) as caught:
        load(file.name, environ={})

    assert str(caught.value).splitlines() == _expected(file)


def test_there_are_at_least_twelve_faulty_files_and_none_without_its_message() -> None:
    assert len(FILES) >= 12
    assert {file.stem for file in FILES} == {file.stem for file in FOLDER.glob("*.txt")}


def test_a_token_is_never_shown() -> None:
    assert "s3cret" in (FOLDER / "many.yaml").read_text()
    assert "s3cret" not in "\n".join(check(FOLDER / "many.yaml").lines())


def _expected(file: Path) -> list[str]:
    return file.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
