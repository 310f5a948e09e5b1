"""Groups of near duplicates, and folds that keep them whole."""

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.pairing.measuring.fitting import deal_folds
from prolocutor.reading.words import ALIKE_SHARE, jaccard, near_duplicates, words

LETTERS = st.lists(st.text("abcdef ", max_size=14), max_size=25)


def test_texts_with_the_same_words_are_one_group() -> None:
    groups = near_duplicates(["Is it sunny?", "is it SUNNY", "who won", "it is sunny"])

    assert groups[0] == groups[1] == groups[3] != groups[2]


def test_chains_of_likeness_are_one_group() -> None:
    chain = ["a b c d e f g h i j", "b c d e f g h i j", "b c d e f g h i", "x y"]

    groups = near_duplicates(chain)

    assert len(set(groups[:3])) == 1
    assert groups[3] != groups[0]


@given(LETTERS)
def test_no_pair_that_is_alike_is_missed(texts: list[str]) -> None:
    spaced = [" ".join(text) for text in texts]
    groups = near_duplicates(spaced)
    sets = [frozenset(words(text)) for text in spaced]

    for one in range(len(texts)):
        for other in range(one):
            if jaccard(sets[one], sets[other]) >= ALIKE_SHARE:
                assert groups[one] == groups[other]


@given(st.lists(st.integers(0, 9)), st.integers(2, 5), st.integers(0, 3))
def test_folds_never_cut_through_a_group(groups: list[int], number: int, seed: int) -> None:
    folds = deal_folds(groups, number, seed)

    seen = defaultdict(set)
    for group, fold in zip(groups, folds, strict=True):
        seen[group].add(fold)
    assert all(len(found) == 1 for found in seen.values())
    assert set(folds) <= set(range(number))


def test_folds_are_even_and_differ_by_seed() -> None:
    groups = list(range(100))

    assert [deal_folds(groups, 5).count(fold) for fold in range(5)] == [20] * 5
    assert deal_folds(groups, 5, 1) != deal_folds(groups, 5, 2)
