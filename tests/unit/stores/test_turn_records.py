"""The packed form of the records of turns."""

from prolocutor.contracts.observer import ProfileChange
from prolocutor.stores.turn_records import TurnRow, joined_turns, pack, unpack
from tests.unit.observe.records import record


def test_a_number_that_has_no_place_is_left_out_of_the_record_that_is_kept() -> None:
    change = ProfileChange(whose="person", part="attributes", key="age", after=2**70)

    kept = unpack(pack(record(changes=[change])), user="ann", dialog_id="d", utt_id="u")

    assert kept is not None
    assert kept.changes == [ProfileChange(whose="person", part="attributes", key="age")]


def test_a_reply_of_several_skills_names_them_all() -> None:
    packed = pack(record(chosen=["calculator.0", "clock.0"], active_skill="clock"))
    body = b'{"text": "12, and it is noon.", "active_skill": "clock"}'
    row = TurnRow(1, 1, "u", 1, "2026-01-01 12:00:00.000000", body, record=packed)

    (turn,) = joined_turns([row], {})

    assert turn.spoke == ["calculator", "clock"]
