"""The key `records` of a file: how long records of turns are kept."""

from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant_settings import RecordSettings
from prolocutor.config.loading import load
from prolocutor.config.yaml_file import ConfigFaults

SKILL = "\nskills:\n  echo: {call: 'json:dumps'}\n"


def settings_of(folder: Path, records: str) -> Any:
    file = folder / "assistant.yaml"
    file.write_text(records + SKILL)
    return load(file).records


@pytest.mark.parametrize(
    ("records", "settings"),
    [
        ("", RecordSettings(keep=604_800.0, most=1_000_000)),
        ("records: true", RecordSettings()),
        ("records: false", None),
        ("records: {keep: 12h, most: 500}", RecordSettings(keep=43_200.0, most=500)),
        ("records: {keep: 90, slow: 2.5}", RecordSettings(keep=90.0, slow=2.5)),
        ("records: {keep: 2w}", RecordSettings(keep=1_209_600.0)),
    ],
)
def test_records_are_kept_as_long_as_the_file_says(
    records: str, settings: RecordSettings | None, tmp_path: Path
) -> None:
    assert settings_of(tmp_path, records) == settings


@pytest.mark.parametrize(
    ("records", "key"),
    [
        ("records: 7d", "records"),
        ("records: {keep: 7y}", "records.keep"),
        ("records: {keep: 0}", "records.keep"),
        ("records: {most: -1}", "records.most"),
        ("records: {most: 1.5}", "records.most"),
        ("records: {slow: 0}", "records.slow"),
        ("records: {kept: 7d}", "records.kept"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_key(
    records: str, key: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigFaults) as caught:
        settings_of(tmp_path, records)

    (fault,) = caught.value.faults
    assert fault.key == key
    assert fault.line == 1
