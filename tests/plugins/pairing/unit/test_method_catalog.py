"""The catalog: every name can be had, and others are answered with a suggestion."""

import sys

import pytest

from prolocutor.errors import BadInput, MissingExtra
from prolocutor.plugins.pairing import method_catalog


def test_every_name_of_ours_can_be_loaded() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn (the extra learn)")
    pytest.importorskip("lightgbm", reason="lightgbm (the extra learn)")

    for name in method_catalog.ROUTERS:
        assert callable(method_catalog.load_router(name))
    for name, entry in method_catalog.RANKERS.items():
        if "encoder" not in entry.needs:
            assert callable(method_catalog.load_ranker(name))


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(BadInput, match="did you mean 'linear'"):
        method_catalog.load_router("linaer")


def test_what_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith(("sklearn", "prolocutor.plugins.pairing.question_agent.linear")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)

    with pytest.raises(MissingExtra, match=r"prolocutor\[learn\]"):
        method_catalog.load_router("linear")


def test_what_a_method_needs_is_told() -> None:
    assert method_catalog.needs_of("cards", "router") == frozenset()
    assert method_catalog.needs_of("linear", "router") == {"labels"}
