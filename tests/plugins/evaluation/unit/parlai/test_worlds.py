"""Plain worlds: who speaks when, who hears it, and what is reported of it."""

import pytest

from prolocutor.errors import BadReply, ConfigError
from prolocutor.plugins.evaluation.parlai.agents import RepeatLabelAgent, RepeatQueryAgent
from prolocutor.plugins.evaluation.parlai.metrics.metric import SumMetric
from prolocutor.plugins.evaluation.parlai.worlds import (
    DialogPartnerWorld,
    MultiAgentDialogWorld,
    SelfChatWorld,
)
from tests.plugins.evaluation.unit.parlai.speakers import Reporting, Scripted


def test_the_teacher_speaks_first_and_hears_the_answer() -> None:
    teacher, pupil = Scripted("teacher", "question"), Scripted("pupil", "answer")

    world = DialogPartnerWorld({}, [teacher, pupil])
    world.parley()

    assert pupil.heard == ["question"]
    assert teacher.heard == ["answer"]
    assert [act and act["text"] for act in world.get_acts()] == ["question", "answer"]
    assert world.getID() == "teacher"


@pytest.mark.parametrize(("teacher", "pupil", "done"), [(True, False, True), (False, True, False)])
def test_the_teacher_alone_ends_an_episode(teacher: bool, pupil: bool, done: bool) -> None:
    acts = [{"text": "x", "episode_done": one} for one in (teacher, pupil)]
    world = DialogPartnerWorld({}, [Scripted("a", acts[0]), Scripted("b", acts[1])])
    assert not world.episode_done()

    world.parley()

    assert world.episode_done() is done


def test_of_two_figures_with_one_name_the_first_agents_counts() -> None:
    agents = [Reporting("a", exs=SumMetric(3), accuracy=0.5), Reporting("b", accuracy=1.0, ppl=9)]

    report = DialogPartnerWorld({}, agents).report()

    assert {name: metric.value() for name, metric in report.items()} == {
        "exs": 3,
        "accuracy": 0.5,
        "ppl": 9.0,
    }


def test_an_act_that_is_none_names_who_gave_it() -> None:
    with pytest.raises(BadReply, match="the act of b is a NoneType"):
        DialogPartnerWorld({}, [Scripted("a"), Scripted("b", None)]).parley()


def test_this_world_is_for_two() -> None:
    with pytest.raises(ConfigError, match="for two agents, not for 3"):
        DialogPartnerWorld({}, [Scripted(name) for name in "abc"])


def test_a_world_is_made_of_agents_or_of_shares() -> None:
    with pytest.raises(ValueError, match="not of both"):
        DialogPartnerWorld({})


def test_a_clone_has_agents_of_its_own() -> None:
    world = DialogPartnerWorld({}, [RepeatQueryAgent(), RepeatLabelAgent()])

    clone = world.clone()

    assert [type(agent) for agent in clone.agents] == [RepeatQueryAgent, RepeatLabelAgent]
    assert not set(map(id, clone.agents)) & set(map(id, world.agents))


def test_who_can_not_be_copied_is_named() -> None:
    with pytest.raises(ConfigError, match="a can be neither shared nor cloned"):
        DialogPartnerWorld({}, [Scripted("a"), Scripted("b")]).clone()


def test_among_many_each_acts_in_turn_and_all_others_hear_it() -> None:
    agents = [Scripted(name, f"{name}1", f"{name}2") for name in "abc"]
    world = MultiAgentDialogWorld({}, agents)

    world.parley()
    world.parley()

    assert agents[0].heard == ["b1", "c1", "b2", "c2"]
    assert agents[2].heard == ["a1", "b1", "a2", "b2"]


def test_among_many_whoever_can_tell_ends_the_episode() -> None:
    class Ending(Scripted):
        def episode_done(self) -> bool:
            return True

    assert MultiAgentDialogWorld({}, [Scripted("a"), Ending("b")]).episode_done()
    assert not MultiAgentDialogWorld({}, [Scripted("a"), Scripted("b")]).episode_done()


def test_two_agents_talk_to_each_other_from_an_opening_on() -> None:
    a, b = Scripted("a", "I am a."), Scripted("b", "Who?", "I see.")
    world = SelfChatWorld({"selfchat_max_turns": 2}, [a, b], openers=["Good day."])

    world.parley()
    assert not world.episode_done()
    world.parley()

    assert world.episode_done()
    assert b.heard == ["Good day.", "I am a."]
    assert a.heard == ["Who?", "I see."]


def test_every_chat_begins_anew_with_the_next_opening() -> None:
    a, b = Scripted("a"), Scripted("b")
    world = SelfChatWorld({"selfchat_max_turns": 1}, [a, b], openers=["one", "two"])

    for _ in range(3):
        world.parley()

    assert b.heard == ["one", "two", "one"]
    assert a.resets == 2
    assert b.resets == 2
