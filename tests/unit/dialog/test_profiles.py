"""A profile is a chain of versions by changed attribute."""

from prolocutor.dialog.dialog import apply_changes


def test_changes_set_and_remove_in_each_part() -> None:
    state = {"persona": [], "profile": {"name": None}, "attributes": {"old": 1}}
    apply_changes(
        state,
        [
            ["", "persona", ["I swim."]],
            ["profile", "name", "Ann"],
            ["attributes", "new", None],
            ["attributes", "old"],
        ],
    )
    assert state == {
        "persona": ["I swim."],
        "profile": {"name": "Ann"},
        "attributes": {"new": None},
    }


def test_removing_a_missing_key_does_nothing() -> None:
    state = {"attributes": {"kept": 1}}
    apply_changes(state, [["attributes", "gone"]])
    assert state == {"attributes": {"kept": 1}}
