import click
import pytest

from prolocutor.cli.options import SizeParam


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 500_000_000), ("1.5 gb", 1_500_000_000), (7, 7)]
)
def test_a_size_is_read_in_bytes(text: object, size: int) -> None:
    assert SizeParam().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "2", "2TB", "-1GB", "GB"])
def test_what_is_no_size_is_told(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write 500MB or 2GB"):
        SizeParam().convert(text, None, None)
