"""Variables in text."""

import pytest

from prolocutor.config.yaml_file import UnsetVariable, substitute


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${HOST}", "example.org"),
        ("http://${HOST}:${PORT}/x", "http://example.org:80/x"),
        ("${NOWHERE:-there}", "there"),
        ("${NOWHERE:-}", ""),
        ("${EMPTY:-full}", "full"),
        ("${EMPTY}", ""),
        ("${HOST:-there}", "example.org"),
        ("$${HOST}", "${HOST}"),
        ("$HOST costs 5$", "$HOST costs 5$"),
        ("${NESTED}", "${HOST}"),
    ],
)
def test_variables_are_filled_in_once(text: str, expected: str) -> None:
    environ = {"HOST": "example.org", "PORT": "80", "EMPTY": "", "NESTED": "${HOST}"}

    assert substitute(text, environ) == expected


def test_an_unset_variable_is_named_with_a_way_out() -> None:
    with pytest.raises(UnsetVariable, match=r"variable HOST is not set.*\$\{HOST:-\.\.\.\}"):
        substitute("http://${HOST}/", {})


@pytest.mark.parametrize("text", ["${", "${}", "${1}", "${A B}", "${A:default}"])
def test_what_opens_no_variable_is_refused(text: str) -> None:
    with pytest.raises(UnsetVariable, match="opens no variable name"):
        substitute(text, {"A": "a"})
