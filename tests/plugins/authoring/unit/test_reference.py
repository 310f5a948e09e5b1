"""The tables of the reference, also those of plug-ins that other packages install."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from prolocutor.errors import NotFound
from prolocutor.plugins.authoring.reference import describe, fill, reference, subjects

WEATHER = """
from typing import Annotated, Literal
from msgspec import Meta
from prolocutor.bounds import about
from prolocutor.contracts.connector import AgentOptions

class Weather(AgentOptions, frozen=True, kw_only=True):
    \"\"\"A station that tells the weather.

    It is asked by radio.
    \"\"\"

    url: Annotated[str, about("Where it stands.", what="a URL")]
    units: Annotated[Literal["metric", "imperial"], about("In which units.")] = "metric"
    patience: Annotated[float, Meta(gt=0, le=9), about("How long.", duration=True)] = 2.0
    days: Annotated[int | None, about("How far ahead.", unit="days", words={"all": None})] = None
"""


@pytest.fixture
def weather(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "radio_weather.py").write_text(WEATHER)
    folder = tmp_path / "radio_weather-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: radio-weather\nVersion: 1.0\n")
    points = "[prolocutor.connectors]\nweather = radio_weather:Weather\n"
    (folder / "entry_points.txt").write_text(points)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


@pytest.mark.usefixtures("weather")
def test_a_plug_in_of_another_package_has_its_table() -> None:
    assert "connectors.weather" in subjects()
    assert (
        describe(["connectors.weather"])
        == """\
A station that tells the weather.

| key | type | default | meaning |
| --- | --- | --- | --- |
| `url` | URL | needed | Where it stands. |
| `units` | `metric` or `imperial` | `metric` | In which units. |
| `patience` | seconds or a time such as 15m, 12h, 7d, above 0, at most 9 | `2s` | How long. |
| `days` | whole number of days, or `all` | `all` | How far ahead. |"""
    )


def test_a_table_of_several_says_which_has_a_key_and_what_is_its_default() -> None:
    rows = describe(["limits.person", "limits.token"]).splitlines()
    of_data = describe(["data.jsonl", "data.csv", "data.rewrites"]).splitlines()

    assert "| `turns` | whole number of turns a minute, 1 or more, or `unlimited` |" in rows[2]
    assert "| person `300`, token `600` |" in rows[2]
    assert "| `text` | `jsonl` | text | `text` | The field that is the text. |" in of_data
    assert "| `text` | `csv` | text | `text` | The column that is the text. |" in of_data


def test_a_page_has_its_tables_written_anew_and_linked_and_all_else_kept() -> None:
    page = "# Top\n\n<!-- reference: processes -->\nold\n<!-- /reference -->\n\nwords\n"
    whole = "## At The Top\n<!-- reference: file -->\n<!-- /reference -->\n" + page

    filled = fill(page)

    assert filled.startswith("# Top\n\n<!-- reference: processes -->\n\n| key | type |")
    assert filled.endswith("|\n\n<!-- /reference -->\n\nwords\n")
    assert fill(filled) == filled
    assert "| `processes` | [map from names to processes](#top) |" in fill(whole)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFound, match=r"'limit'.*did you mean 'limits'\?"):
        describe(["limit"])


def test_the_command_lists_prints_and_writes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- reference: skills.breaker -->\n<!-- /reference -->\n")
    runner = CliRunner()

    listed = runner.invoke(reference, [])
    printed = runner.invoke(reference, ["skills.breaker"])
    written = runner.invoke(reference, ["--write", str(page)])

    assert "connectors.http" in listed.output.splitlines()
    assert printed.output.startswith("| key | type | default | meaning |")
    assert written.output == f"wrote {page}\n"
    assert printed.output in page.read_text()
