from pathlib import Path

import pytest
from click.testing import CliRunner

from prolocutor.config.file_check import check
from prolocutor.plugins.authoring.add_command import assistant_name, new, write


def test_what_is_written_has_no_faults(tmp_path: Path) -> None:
    files = write(tmp_path, "My assistant")

    report = check(tmp_path / "assistant.yaml")
    assert files == [
        "README.md",
        "assistant.yaml",
        "skills.py",
        "test_assistant.py",
        "assistant.schema.json",
    ]
    assert report.ok
    assert report.name == "My assistant"
    assert report.warnings == ()


def test_a_service_by_its_address_is_written_with_the_schema_for_editors(tmp_path: Path) -> None:
    folder = tmp_path / "hotel"

    CliRunner().invoke(new, ["http://127.0.0.1:9/x", str(folder), "--as", "http"])

    assert (
        (folder / "assistant.yaml")
        .read_text()
        .startswith("# yaml-language-server: $schema=assistant.schema.json\n")
    )
    assert (folder / "assistant.schema.json").is_file()
    assert check(folder / "assistant.yaml").ok


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my-assistant", "My assistant"),
        ("concierge", "Concierge"),
        ("yes", "Yes"),
        ("---", "My assistant"),
    ],
)
def test_an_assistant_is_named_after_its_folder(folder: str, name: str) -> None:
    assert assistant_name(Path(folder)) == name


@pytest.mark.parametrize("name", ["Null", "True", "12", "Yes", "1e3"])
def test_a_name_that_yaml_takes_for_something_else_stays_a_name(name: str, tmp_path: Path) -> None:
    write(tmp_path, name)

    assert check(tmp_path / "assistant.yaml").name == name
