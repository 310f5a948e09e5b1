"""Phrasings stand on cards, or in files that cards name."""

from pathlib import Path

import pytest

from prolocutor.config.file_check import check
from prolocutor.errors import ConfigError
from prolocutor.plugins.language.follow_up.phrasings.loading import phrasings_of

INTENT = {"ask": "ferries to {place}", "said": ["boats {place}", "sail to {place}!"]}


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_card_has_intents_itself() -> None:
    (intent,) = phrasings_of("ferries", [INTENT], "en").intents

    assert intent.asks == ["ferries to {place}"]
    assert intent.said == [
        ["boats", "{place}"],
        ["sail", "to", "{place}"],
        ["ferries", "to", "{place}"],
    ]


def test_a_file_has_the_intents_of_several_skills_and_what_is_for_none(tmp_path: Path) -> None:
    text = """
    values: {place: [Skye]}
    none: |
      who wrote this song

      my back hurts
    ferries:
      - ask: "ferries to {place}"
        said: "boats {place}"
    """
    file = write(tmp_path / "all.yaml", text)

    found = phrasings_of("ferries", file, "en")

    assert (len(found.intents), found.values) == (1, {"place": ["Skye"]})
    assert [one.strip() for one in found.none] == ["who wrote this song", "my back hurts"]
    assert phrasings_of("plots", file, "en").intents == []


def test_a_language_without_a_file_has_no_phrasings(tmp_path: Path) -> None:
    write(tmp_path / "de.yaml", '[{ask: "Fähren nach {place}"}]')
    given = str(tmp_path / "{language}.yaml")

    assert phrasings_of("ferries", given, "de").intents[0].asks == ["Fähren nach {place}"]
    assert phrasings_of("ferries", given, "fr").intents == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (None, "cannot be read"),
        ("a: [", "is not YAML"),
        ("just words", "is not a list of intents, or a map of skills"),
        ("[{said: boats}]", "`ask`"),
        ("[{ask: ferries, says: boats}]", "`says`"),
        ("[{ask: []}]", "an intent without an `ask`"),
        ("[{ask: ' '}]", "an intent without an `ask`"),
        ("[{ask: 2027-13-45}]", "month must be in"),
        ("[{ask: 'ferries to {Place}'}]", "'{Place}' in 'ferries to {Place}' is no slot"),
        ("[{ask: ferries, said: 'boats { place }'}]", "'{ place }' in 'boats { place }'"),
        ("[{ask: ferries, said: 'boats {}'}]", "is no slot"),
        ("[{ask: ferries, said: 'boats {place'}]", "is no slot"),
        ("{none: {a: b}}", "none"),
    ],
)
def test_phrasings_that_cannot_be_read_are_an_error(
    tmp_path: Path, text: str | None, what: str
) -> None:
    path = tmp_path / "phrasings.yaml"
    file = str(path) if text is None else write(path, text)

    with pytest.raises(ConfigError, match=what):
        phrasings_of("ferries", file, "en")


def test_check_names_the_line_of_phrasings_that_cannot_be_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "assistant.yaml",
        "skills:\n  echo:\n    call: builtins:str\n    card:\n      phrasings: missing.yaml\n",
    )

    (fault,) = [one for one in check(file).faults if "missing.yaml" in one.what]

    assert (fault.line, fault.key) == (5, "skills.echo.card.phrasings")


@pytest.mark.parametrize("name", ["{language}.yaml", "others.yaml"])
def test_check_names_a_file_without_phrasings_of_the_skill(tmp_path: Path, name: str) -> None:
    write(tmp_path / "others.yaml", "ehco: [{ask: ferries}]")
    file = write(
        tmp_path / "assistant.yaml",
        f"skills:\n  echo:\n    call: builtins:str\n    card:\n      phrasings: '{name}'\n",
    )

    (fault,) = [one for one in check(file).faults if "phrasings" in one.key]

    assert "has no phrasings of 'echo' in any language" in fault.what


@pytest.mark.parametrize(("rewrites", "count"), [("true", 0), ("false", 1)])
def test_check_warns_of_phrasings_of_a_skill_that_is_not_asked_again(
    tmp_path: Path, rewrites: str, count: int
) -> None:
    file = write(
        tmp_path / "assistant.yaml",
        f"skills:\n  echo:\n    call: builtins:str\n    rewrites: {rewrites}\n"
        "    card:\n      phrasings: [{ask: ferries}]\n",
    )

    found = [one for one in check(file).warnings if "is not asked again" in one.what]

    assert len(found) == count


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = write(tmp_path / "phrasings.yaml", "[{ask: ferries}]")
    phrasings_of("ferries", file, "en")

    write(tmp_path / "phrasings.yaml", "[{ask: all ferries}]")

    assert phrasings_of("ferries", file, "en").intents[0].asks == ["all ferries"]
