"""A name that is not known is answered with the closest known one, else with all of them."""

from prolocutor.names import closest, did_you_mean, suggest

KNOWN = ["annotators", "skills"]


def test_a_close_name_is_suggested() -> None:
    assert closest("skils", KNOWN) == "skills"
    assert did_you_mean("skils", KNOWN) == suggest("skils", KNOWN) == "did you mean 'skills'?"


def test_where_no_name_is_close_all_are_listed() -> None:
    assert closest("x", KNOWN) is None
    assert did_you_mean("x", KNOWN) is None
    assert suggest("x", KNOWN) == "there are annotators, skills"
    assert suggest("x", KNOWN, "known keys are") == "known keys are annotators, skills"
