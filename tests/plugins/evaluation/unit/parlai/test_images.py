"""Images: from paths, bytes and data URLs, in the mode that is asked for."""

import base64
import io
from pathlib import Path
from typing import Any

import pytest

from prolocutor.errors import BadData, BadInput
from prolocutor.plugins.evaluation.parlai.images import RAMP, ImageLoader

Image = pytest.importorskip("PIL.Image", reason="images (Pillow is not installed)")

FOUR = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@;;@@@@
@@@@@@@@@@@@@@@@@@@@@s s@@@@
@@@@@@@@@@@@@@@@@@@@A  H@@@@
@@@@@@@@@@@@@@@@@@@@; ;@@@@@
@@@@@@@@@@@@#;&@@@@H ,9@@@@@
@@@@@@@@@@@@, #@@@@, H@@@@@@
@@@@@@@@@@@@, G@@@9  H@@@@@@
@@@@@@@@@@@A ,&@@@c :@@@@@@@
@@@@@@@@@@8  #@@@s .@@@@@@@@
@@@@@@@@@9. s@@@2  3@@@@@@@@
@@@@@@@@h   :2@&: r@@@@@@@@@
@@@@@@@h   ,  :.  @@@@@@@@@@
@@@@@@H   G9;     .8@@@@@@@@
@@@@@@;.h@@@9:    r@@@@@@@@@
@@@@@@38@@@@#  H99&@@@@@@@@@
@@@@@@@@@@@&s .@@@@@@@@@@@@@
@@@@@@@@@@@2  8@@@@@@@@@@@@@
@@@@@@@@@@8. A@@@@@@@@@@@@@@
@@@@@@@@@@. r@@@@@@@@@@@@@@@
@@@@@@@@@@2 H@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@@@@@@@@@@@@@@@@@@@@@@@@@@@@"""
"""The MNIST digit of ParlAI's documentation."""


def picture(text: str) -> Any:
    """The image that these characters draw: bright where they are light."""
    rows = text.split("\n")
    grey = {shade: 255 - (2 * RAMP.rindex(shade) + 1) * 128 // len(RAMP) for shade in RAMP}
    image = Image.new("L", (len(rows[0]), len(rows)))
    image.putdata([grey[shade] for shade in "".join(rows)])
    return image


@pytest.fixture
def digit(tmp_path: Path) -> Path:
    file = tmp_path / "four.png"
    picture(FOUR).save(file)
    return file


def test_a_digit_is_drawn_as_in_parlais_documentation(digit: Path) -> None:
    assert ImageLoader("ascii").load(str(digit)) == FOUR


def test_a_large_image_is_drawn_within_60_by_40_characters() -> None:
    drawn = ImageLoader("ascii").load(Image.new("RGB", (600, 200)))

    assert [len(line) for line in drawn.split("\n")] == [60] * 20


def test_raw_is_the_default_and_gives_rgb(digit: Path) -> None:
    image = ImageLoader().load(str(digit))

    assert image.mode == "RGB"
    assert image.size == (28, 28)


@pytest.mark.parametrize("ending", ["png", "tiff"])
def test_sixteen_bits_of_grey_are_scaled_to_eight(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"grey.{ending}"
    grey = Image.new("I;16", (3, 1))
    for place, value in enumerate((256, 32768, 65535)):
        grey.putpixel((place, 0), value)
    grey.save(file)

    for given in (grey, file):
        image = ImageLoader().load(given)
        assert [image.getpixel((place, 0))[0] for place in range(3)] == [1, 128, 255]


def test_paths_bytes_and_data_urls_give_the_same_image(digit: Path) -> None:
    data = digit.read_bytes()
    url = "data:image/png;base64," + base64.b64encode(data).decode()

    loaded = [ImageLoader().load(one).tobytes() for one in (digit, data, memoryview(data), url)]

    assert len(set(loaded)) == 1


def test_paths_are_looked_for_beside_the_data(digit: Path) -> None:
    assert ImageLoader("raw", digit.parent).load("four.png").size == (28, 28)


def test_a_function_makes_features_of_the_raw_image(digit: Path) -> None:
    assert ImageLoader(lambda image: (image.mode, image.size)).load(digit) == ("RGB", (28, 28))


def test_a_picture_that_is_text_already_passes() -> None:
    assert ImageLoader("ascii").load(FOUR) == FOUR


@pytest.mark.parametrize("mode", ["none", "no_image_model"])
def test_images_can_be_left_out(mode: str) -> None:
    assert not ImageLoader(mode).loads_images


def test_another_mode_is_refused() -> None:
    with pytest.raises(BadInput, match="none of raw, ascii, none"):
        ImageLoader("resnet152")


@pytest.mark.parametrize("given", ["nowhere.png", b"no image", "data:image/png;base64,?", 5])
def test_what_is_no_image_is_refused_by_field(given: Any) -> None:
    with pytest.raises(BadData) as refused:
        ImageLoader().load(given)

    assert refused.value.field == "image"


def test_the_pixels_of_all_formats_of_a_file_are_read(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.new("RGBA", (2, 2), (1, 2, 3, 0)).save(data, format="PNG")

    assert ImageLoader().load(data.getvalue()).getpixel((0, 0)) == (1, 2, 3)
