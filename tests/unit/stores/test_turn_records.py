"""The packed form of the records of turns."""

from prolocutor.contracts.observer import ProfileChange
from prolocutor.stores.turn_records import pack, unpack
from tests.unit.observe.records import record


def test_a_number_that_has_no_place_is_left_out_of_the_record_that_is_kept() -> None:
    change = ProfileChange(whose="person", part="attributes", key="age", after=2**70)

    kept = unpack(pack(record(changes=[change])), user="ann", dialog_id="d", utt_id="u")

    assert kept is not None
    assert kept.changes == [ProfileChange(whose="person", part="attributes", key="age")]
