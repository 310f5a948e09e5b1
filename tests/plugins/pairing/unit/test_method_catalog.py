"""The catalog: every name can be had, and others are answered with a suggestion."""

import sys

import pytest

from prolocutor.contracts.pairing import Role
from prolocutor.errors import BadInput, MissingExtra
from prolocutor.plugins.pairing import method_catalog


@pytest.mark.parametrize("role", ["router", "ranker"])
def test_every_name_of_ours_can_be_loaded(role: Role) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn (the extra learn)")
    pytest.importorskip("lightgbm", reason="lightgbm (the extra learn)")

    for name in method_catalog.methods(role):
        assert callable(method_catalog.load_fit(name, role))


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(BadInput, match="did you mean 'learned'"):
        method_catalog.load_fit("leanred", "router")


def test_what_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = "prolocutor.plugins.pairing.question_response.learned_training"
    for name in list(sys.modules):
        if name.startswith("sklearn") or name == trained:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)

    with pytest.raises(MissingExtra, match=r"prolocutor\[pairing\]"):
        method_catalog.load_fit("learned", "ranker")


def test_what_a_method_needs_is_told() -> None:
    assert method_catalog.method_needs("cards", "router") == frozenset()
    assert method_catalog.method_needs("learned", "router") == {"labels"}
