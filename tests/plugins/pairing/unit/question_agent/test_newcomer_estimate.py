"""What a few ratings say of an agent without labels: properties of the posterior."""

from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.plugins.pairing.question_agent.newcomers import (
    NewcomerEstimate,
    Observation,
    Traits,
)

USUAL = -2.0
LOGITS = st.floats(-4, 4)
TRAITS = st.tuples(st.just(1.0), LOGITS, LOGITS)
SEEN = st.lists(
    st.builds(
        Observation,
        text=st.sampled_from(["rain in Rome", "play jazz", "rain in Paris", "my balance"]),
        traits=TRAITS,
        right=st.floats(0, 1),
        weight=st.floats(0, 1),
        ranked=st.booleans(),
    ),
    max_size=12,
)
HERE: Traits = (1.0, 0.0, 0.0)


def learned(seen: list[Observation], scale: float = 1.0) -> NewcomerEstimate:
    estimate = NewcomerEstimate(USUAL)
    estimate.learn(seen, scale)
    return estimate


def observed(right: float, times: int, weight: float = 1.0) -> list[Observation]:
    return [Observation("rain in Rome", HERE, right, weight)] * times


@settings(max_examples=25, deadline=None)
@given(SEEN, TRAITS, st.floats(0.25, 4))
def test_it_is_a_probability_with_a_doubt_whatever_was_seen(
    seen: list[Observation], traits: Traits, scale: float
) -> None:
    estimate = learned(seen, scale)

    assert 0 < estimate.probability("rain in Rome", traits) < 1
    assert 0 <= estimate.doubt(traits) <= NewcomerEstimate(USUAL).doubt(traits) + 1e-9


@settings(max_examples=25, deadline=None)
@given(SEEN, TRAITS)
def test_the_order_of_what_is_learned_does_not_matter(
    seen: list[Observation], traits: Traits
) -> None:
    one, other = learned(seen), learned(seen[::-1])

    found, its = (each.probability("play jazz", traits) for each in (one, other))
    assert abs(found - its) < 1e-3


@settings(max_examples=25, deadline=None)
@given(SEEN)
def test_a_thumb_up_never_lowers_and_a_thumb_down_never_raises_it(seen: list[Observation]) -> None:
    before = learned(seen).probability("rain in Rome", HERE)

    assert learned([*seen, *observed(1.0, 1)]).probability("rain in Rome", HERE) >= before - 1e-6
    assert learned([*seen, *observed(0.0, 1)]).probability("rain in Rome", HERE) <= before + 1e-6


def test_it_begins_with_what_the_card_promises_and_ends_with_what_was_seen() -> None:
    unknown = NewcomerEstimate(USUAL)
    assert unknown.probability("rain in Rome", (1.0, 3.0, 0.0)) > unknown.probability(
        "rain in Rome", HERE
    )

    assert learned(observed(1.0, 100)).probability("snow in Oslo", HERE) > 0.9
    assert learned(observed(0.0, 100)).probability("snow in Oslo", HERE) < 0.05
    assert learned(observed(1.0, 100)).doubt(HERE) < unknown.doubt(HERE) / 1.5


def test_what_has_no_weight_changes_nothing() -> None:
    estimate = learned(observed(1.0, 50, weight=0.0))

    assert estimate.probability("a", HERE) == NewcomerEstimate(USUAL).probability("a", HERE)
