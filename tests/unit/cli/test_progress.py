"""The bar in narrow and wide terminals."""

import pytest

from prolocutor.cli.output import drawn_bar

SCORES = ["1,000 failed", "accuracy 0.123", "f1 0.456", "bleu-4 0.789"]


@pytest.mark.parametrize("what", ["repeat_label", "a name that is much longer than need be"])
@pytest.mark.parametrize("number", [10, 100_000])
def test_at_eighty_columns_count_and_time_stay(
    number: int, what: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = last_line(80, number, what, capsys, monkeypatch)

    assert f"{number}/{number}" in shown
    assert shown.count("0:00:00") == 2
    assert "…" not in shown.removeprefix(what[:23] + "…")


def test_where_there_is_room_all_scores_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert last_line(160, 100, "repeat_label", capsys, monkeypatch).endswith("  ".join(SCORES))


def last_line(
    width: int,
    number: int,
    what: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    with drawn_bar(number, what) as show:
        show(number, SCORES)
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    return lines[0].strip()
