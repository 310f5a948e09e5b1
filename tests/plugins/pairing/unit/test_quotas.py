"""Calls of the last minute."""

from prolocutor.plugins.pairing.skill_selector import Quotas


def test_calls_are_counted_for_a_minute() -> None:
    now = [0.0]
    quotas = Quotas({"bank": 2}, clock=lambda: now[0])
    quotas.called("bank")
    now[0] = 30.0
    quotas.called("bank")

    left = []
    for now[0] in (30.0, 59.9, 60.0, 90.0):
        left.append(quotas.left("bank"))

    assert left == [0, 0, 1, 2]


def test_an_agent_without_a_quota_has_no_end_of_calls() -> None:
    quotas = Quotas({"bank": 0})
    quotas.called("chat")

    assert quotas.left("chat") is None
    assert quotas.left("bank") == 0
