"""Reading YAML into nodes that know their line."""

from pathlib import Path
from typing import Any

import pytest

from prolocutor.config.yaml_file import UNREAD, ConfigFaults, YamlDocument, YamlNode, read


def test_every_key_and_item_knows_its_line(tmp_path: Path) -> None:
    document = _read(tmp_path, "a: 1\nb:\n  c: [x,\n    y]\n")

    places = {key: document.find(key).line for key in ("a", "b", "b.c", "b.c[0]", "b.c[1]")}
    assert places == {"a": 1, "b": 2, "b.c": 3, "b.c[0]": 3, "b.c[1]": 4}


def test_a_key_that_is_not_written_is_found_at_the_nearest_one_above(tmp_path: Path) -> None:
    document = _read(tmp_path, "a:\n  b: 1\n")

    assert document.find("a.x.y").key == "a"
    assert document.find("z").key == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("no", "no"),
        ("~", None),
        ("", None),
        ("12", 12),
        ("1_000", 1000),
        ("010", 10),
        ("0x1F", 31),
        ("-1.5e3", -1500.0),
        (".5", 0.5),
        ("12:30:45", "12:30:45"),
        ("2024-01-01", "2024-01-01"),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("1.2.3", "1.2.3"),
        ("9" * 5000, "9" * 5000),
        ("<<", "<<"),
        ("[1, [2]]", [1, [2]]),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(tmp_path: Path, text: str, value: Any) -> None:
    assert _plain(_read(tmp_path, f"key: {text}\n").root) == {"key": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${PORT}", 80),
        ("'${PORT}'", "80"),
        ("${PORT}${PORT}", 8080),
        ("${FLAG}", True),
        ("${NONE:-0.5}", 0.5),
        ("$${PORT}", "${PORT}"),
        ("port ${PORT}", "port 80"),
        ("${TRAP}", "[1, 2]"),
    ],
)
def test_a_variable_in_a_plain_scalar_is_read_as_if_it_were_written_there(
    tmp_path: Path, text: str, value: Any
) -> None:
    environ = {"PORT": "80", "FLAG": "true", "TRAP": "[1, 2]"}

    assert _plain(_read(tmp_path, f"key: {text}\n", environ).root) == {"key": value}


def test_keys_are_words_whatever_they_look_like(tmp_path: Path) -> None:
    document = _read(tmp_path, "no: 1\n7: 2\nnull: 3\n${NAME}: 4\n", {"NAME": "ann"})

    assert _plain(document.root) == {"no": 1, "7": 2, "null": 3, "ann": 4}


def test_an_unset_variable_does_not_keep_the_rest_from_being_read(tmp_path: Path) -> None:
    document = _read(tmp_path, "a: ${NOWHERE}\nb: ${NOBODY}\nc: 3\n")

    assert _plain(document.root) == {"a": UNREAD, "b": UNREAD, "c": 3}
    assert [(fault.line, fault.key) for fault in document.faults] == [(1, "a"), (2, "b")]


def test_anchors_and_merge_keys_are_filled_in_and_own_keys_win(tmp_path: Path) -> None:
    text = (
        "slow: &slow {timeout: 9, retries: 1}\nsafe: &safe {retries: 3, window: 2}\n"
        "both: {<<: [*slow, *safe], timeout: 5}\nsame: *slow\n"
    )

    tree = _plain(_read(tmp_path, text).root)

    assert tree["both"] == {"timeout": 5, "retries": 1, "window": 2}
    assert tree["same"] == {"timeout": 9, "retries": 1}


def test_a_key_that_a_merge_brings_too_is_no_duplicate_but_two_of_its_own_are(
    tmp_path: Path,
) -> None:
    document = _read(tmp_path, "a: &a {x: 1}\nb:\n  <<: *a\n  x: 2\n  x: 3\n")

    assert [str(fault) for fault in document.faults] == [
        f"{tmp_path / 'file.yaml'}:5: b.x: this key is here twice, first in line 4"
    ]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: 1\nb: 2: 3\n", 2, "a second `: ` in one line"),
        ("a: {b: c: d, e: f}\n", 1, "between two commas"),
        ("a: 1\n b: 2\n", 2, "a second `: ` in one line"),
        ("a:\n    b: 1\n  c: 2\n", 3, "this line is indented otherwise"),
        ("a: [1, 2\nb: 3\n", 2, "not valid YAML"),
        ("a: [how many?, who?]\n", 1, "put it in quotes"),
        ("a: {b: how many?, c: 1}\n", 1, "put it in quotes"),
        ("a: {b: c, key: ${MY_KEY}}\n", 1, 'put it in quotes, as in "${NAME}"'),
        ("a: [${MY_KEY}]\n", 1, 'put it in quotes, as in "${NAME}"'),
        ('a: "x\n', 1, "a quote is opened and never closed"),
        ('a: "x" y\n', 1, "text goes on after the closing quote"),
        ("a: {python} -m x\n", 1, "put all of it in quotes"),
        ("a: 1\n---\nb: 2\n", 2, "one file holds one document"),
        ("a:\n\tb: 1\n", 2, "a tab cannot indent here"),
        ("a: *nobody\n", 1, "undefined alias"),
        ("a: 1\nb: \x00\n", 2, "the character U+0000 is not allowed"),
        (b"a: 1\nb: \xff\n", 2, "this is not UTF-8"),
        (f"a:\n  {'[' * 200}{']' * 200}\n", 2, "nested deeper than 32 levels"),
        ("a: &a [*a]\n", 1, "values or 32 levels"),
        ("a: &a {<<: *a}\n", 1, "values or 32 levels"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, what: str
) -> None:
    with pytest.raises(ConfigFaults) as caught:
        _read(tmp_path, text)

    assert caught.value.line == line
    assert what in caught.value.what


def test_anchors_that_multiply_are_stopped(tmp_path: Path) -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

    with pytest.raises(ConfigFaults, match="more than 20,000 values"):
        _read(tmp_path, "\n".join(lines))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: !!python/object/apply:os.getcwd []\n", "does not fit here"),
        ("a: !!int x\n", "the tag !!int does not fit here"),
        ("a: !mine x\n", "the tag !mine does not fit here"),
        ("? [a, b]\n: 1\n", "a key must be a word"),
        ("a: {<<: 7}\n", "only a map can be merged"),
        ('a: "\\ud800"\n', "half of a character"),
        ('"\\ud800": 1\n', "half of a character"),
    ],
)
def test_what_we_do_not_understand_is_a_fault(tmp_path: Path, text: str, what: str) -> None:
    assert [what in fault.what for fault in _read(tmp_path, text).faults] == [True]


def test_an_empty_file_is_an_empty_map(tmp_path: Path) -> None:
    assert _plain(_read(tmp_path, "# nothing\n").root) == {}


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert _plain(_read(tmp_path, b"\xef\xbb\xbfa: 1\n").root) == {"a": 1}


@pytest.mark.parametrize(("name", "what"), [("no.yaml", "No such file"), ("", "Is a directory")])
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(ConfigFaults, match=f"cannot be read: {what}"):
        read(tmp_path / name)


def test_a_file_of_many_bytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigFaults, match="more than the 1,000,000 allowed"):
        _read(tmp_path, "#" * 1_000_001)


def _read(folder: Path, text: str | bytes, environ: dict[str, str] | None = None) -> YamlDocument:
    file = folder / "file.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(file, environ or {})


def _plain(node: YamlNode) -> Any:
    if isinstance(node.value, dict):
        return {key: _plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(child) for child in node.value]
    return node.value
