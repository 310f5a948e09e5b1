"""The file of a recorded conversation."""

from pathlib import Path

import pytest

from prolocutor.errors import BadData
from prolocutor.plugins.cassettes.cassette import (
    CassetteWriter,
    Header,
    RecordedCall,
    RecordedReply,
    RecordedTurn,
    read_cassette,
)

LONG = {"utterances": [{"text": "x" * 200}], "more": [1, 2, {"three": "y" * 150}]}


def turn(number: int, *calls: RecordedCall) -> RecordedTurn:
    return RecordedTurn(
        number=number,
        at=1.5,
        input={"says": "hello", "user": "ann"},
        calls=list(calls),
        reply=RecordedReply(reply="hi", agent="chat", attributes={"person.attributes.a": None}),
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    calls = [
        RecordedCall(call="skills.a", asked=LONG, took=0.25, gave=[{"text": "hi"}]),
        RecordedCall(call="skills.b", piece="1", asked=LONG, failed={"kind": "ServiceLate"}),
        RecordedCall(call="skills.c", asked=None, chunks=[(0.1, "h"), (0.2, None)]),
    ]
    written = [turn(1, *calls), turn(2, *calls)]
    header = Header(name="it", at=1.5, ignore={"skills.a": ["more"]})
    writer = CassetteWriter(tmp_path / "a.cassette", header)
    for one in written:
        writer.append(one)

    read = read_cassette(tmp_path / "a.cassette")

    assert read.header == header
    assert read.turns == written


def test_what_requests_have_in_common_stands_once(tmp_path: Path) -> None:
    calls = [RecordedCall(call=f"skills.{name}", asked=LONG) for name in "abcdefgh"]
    writer = CassetteWriter(tmp_path / "a.cassette", Header())
    writer.append(turn(1, *calls))

    assert (tmp_path / "a.cassette").read_text().count("x" * 200) == 1


def test_a_turn_whose_recording_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    writer = CassetteWriter(path, Header())
    writer.append(turn(1))
    writer.append(turn(2, RecordedCall(call="skills.a", asked=LONG)))
    path.write_bytes(path.read_bytes()[:-20])

    assert [one.number for one in read_cassette(path).turns] == [1]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("", None, "it is empty"),
        ('{"cassette": 99}\n{}', 1, "version 1"),
        ('{"cassette": 1}\nnonsense\n{}', 2, "not a line of a cassette"),
        ('{"cassette": 1}\n' + "[" * 100_000 + "\n{}", 2, "not a line of a cassette"),
        ("skills: {a: b}\n\n", 1, "not a line of a cassette"),
    ],
)
def test_a_file_that_is_no_cassette_is_refused_with_its_line(
    text: str, line: int | None, told: str, tmp_path: Path
) -> None:
    (tmp_path / "a.cassette").write_text(text)

    with pytest.raises(BadData, match=told) as refused:
        read_cassette(tmp_path / "a.cassette")

    assert f"a.cassette:{line}" in str(refused.value) or line is None
