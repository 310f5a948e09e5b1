"""Loss curves: the threshold of a wanted loss, and the budget that follows the ranker's model."""

from prolocutor.plugins.pairing.budget import AgentOffer, AskAll, BudgetState, UntilSure
from prolocutor.plugins.pairing.model_reloading import VersionedMethod
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker
from prolocutor.plugins.pairing.selector_settings import LossBudget
from prolocutor.plugins.pairing.stopping_curves import LossCurve, LossPoint


def curve(**bounds: float) -> LossCurve:
    points = [LossPoint(int(name[1:]) / 100, bound) for name, bound in bounds.items()]
    return LossCurve(points=points, questions=100)


def budget(loss: float, losses: LossCurve | None) -> LossBudget:
    return LossBudget(VersionedMethod(UnsupervisedRanker(), "", losses), loss)


def test_the_lowest_threshold_is_taken_before_the_first_that_loses_more() -> None:
    found = curve(t90=0.0, t80=0.01, t70=0.03, t60=0.005)
    wanted = {loss: found.threshold(loss) for loss in (0.001, 0.01, 0.02, 0.05)}
    assert wanted == {0.001: 0.9, 0.01: 0.8, 0.02: 0.8, 0.05: 0.6}
    assert curve(t90=0.02).threshold(0.01) is None


def test_all_are_asked_where_no_threshold_keeps_the_loss() -> None:
    assert budget(0.01, curve(t90=0.02)).policy() == AskAll()
    assert budget(0.01, None).policy() == AskAll()


def test_an_answer_that_is_less_sure_never_ends_a_wait_for_others() -> None:
    asked = budget(0.01, curve(t90=0.0, t80=0.01))
    offers = [AgentOffer(agent=name, prior=0.5) for name in "abc"]

    assert asked.policy() == UntilSure(sure=0.8, certain=0.8)
    assert asked.next(BudgetState(offers=offers)).ask == ("a", "b")
    waiting = BudgetState(offers=offers, answered={"a": 0.7}, running=frozenset("b"))
    assert not asked.next(waiting).enough
    settled = BudgetState(offers=offers, answered={"a": 0.7, "b": 0.1})
    assert asked.next(settled).ask == ("c",)
    assert asked.next(BudgetState(offers=offers, answered={"a": 0.8, "b": 0.1})).enough
