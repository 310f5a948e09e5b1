"""Batches: copies of a world in step, filled up with padding."""

import pytest

from prolocutor.errors import BadReply, ConfigError
from prolocutor.plugins.evaluation.parlai.agents import RepeatLabelAgent
from prolocutor.plugins.evaluation.parlai.batch_world import BatchWorld
from prolocutor.plugins.evaluation.parlai.shared_teacher import SharedTeacher
from prolocutor.plugins.evaluation.parlai.worlds import DialogPartnerWorld
from tests.plugins.evaluation.unit.parlai.speakers import Batched

DATA = [
    {"text": "a1", "labels": ["A1"], "episode_done": False},
    {"text": "a2", "labels": ["A2"], "episode_done": True},
    {"text": "b1", "labels": ["no"], "episode_done": True},
    {"text": "c1", "labels": ["C1"], "episode_done": True},
]


def batches(agent: object, size: int) -> BatchWorld:
    opt = {"batchsize": size}
    return BatchWorld(opt, DialogPartnerWorld(opt, [SharedTeacher(DATA), agent]))


def test_a_batch_is_answered_in_one_call() -> None:
    agent = Batched()
    world = batches(agent, 2)

    while not world.epoch_done():
        world.parley()

    assert agent.batches == [["a1", "b1"], ["a2", "c1"]]


def test_a_batch_is_filled_up_with_padding() -> None:
    agent = Batched()
    world = batches(agent, 3)

    while not world.epoch_done():
        world.parley()

    assert agent.batches == [["a1", "b1", "c1"], ["a2", None, None]]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_the_figures_do_not_depend_on_the_size(size: int) -> None:
    world = batches(Batched(), size)

    while not world.epoch_done():
        world.parley()

    report = world.report()
    assert report["exs"].value() == 4
    assert report["accuracy"].value() == 0.75


def test_an_agent_without_batch_act_answers_copy_by_copy() -> None:
    world = batches(RepeatLabelAgent(), 2)

    while not world.epoch_done():
        world.parley()

    assert world.report()["accuracy"].value() == 1.0


def test_copies_know_their_place_in_the_batch() -> None:
    world = batches(Batched(), 2)

    assert [each.agents[1].opt["batchindex"] for each in world.worlds] == [0, 1]


def test_who_acts_observes_itself() -> None:
    world = batches(Batched(), 2)

    world.parley()

    assert [each.agents[1].own for each in world.worlds] == [["A1"], ["B1"]]


def test_who_does_not_give_back_what_it_observed_is_named() -> None:
    class Forgetful(Batched):
        def observe(self, observation: object) -> None:
            """Return nothing back."""

    with pytest.raises(BadReply, match="Forgetful did not give back what it observed"):
        batches(Forgetful(), 2).parley()


def test_too_few_acts_are_refused() -> None:
    class Short(Batched):
        def batch_act(self, observations: list[object]) -> list[object]:
            return []

    with pytest.raises(BadReply, match="Short gave 0 acts to 2 observations"):
        batches(Short(), 2).parley()


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        batches(Batched(), 0)
