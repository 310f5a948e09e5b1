import pytest

from prolocutor.plugins.nats.worker import GENERATION_CALLS, CallAges


class _Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("ahead", [0.0, 3600.0, -3600.0])
def test_a_call_is_as_old_as_it_took_longer_than_the_quickest(ahead: float) -> None:
    clock = _Clock()
    ages = CallAges(clock)

    def came(sent: float) -> float:
        return round(ages.age("ann", str((sent + ahead) * 1000)), 3)

    found = [came(999.9), came(999.99), came(990.0), came(999.98)]

    assert found == [0.0, 0.0, 9.99, 0.01]


def test_a_clock_that_was_set_is_believed_after_a_while() -> None:
    clock = _Clock()
    ages = CallAges(clock)
    ages.age("ann", "1000000")
    clock.now = 1100.0

    found = [ages.age("ann", "1000000") for _ in range(2 * GENERATION_CALLS)]

    assert found[0] == 100.0
    assert found[-1] == 0.0


def test_senders_are_told_apart_and_nonsense_is_of_no_age() -> None:
    ages = CallAges(_Clock())

    assert [ages.age("ann", "1000000"), ages.age("bob", "0"), ages.age("ann", "soon")] == [0, 0, 0]
    assert ages.age("ann", None) == 0
