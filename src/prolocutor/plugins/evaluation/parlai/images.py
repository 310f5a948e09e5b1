"""Images of messages, in the form that the image mode asks for.

Source: ParlAI 1.7.2's `ImageLoader`. Modes: `raw` (a Pillow image, RGB), `ascii` (text, at most 60
by 40 characters, dark for bright), `none` or ParlAI's `no_image_model` (the field is left out),
`untouched` (as in the data), or a function of the raw image, such as a feature extractor. Pillow
comes with the extra `eval`.
"""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from prolocutor.errors import BadData, BadInput, MissingExtra

if TYPE_CHECKING:
    from PIL.Image import Image

Extractor = Callable[["Image"], Any]
ImageMode = str | Extractor

MODES: Final = ("raw", "ascii", "none", "no_image_model", "untouched")
ASCII_SIZE: Final = (60, 40)
RAMP: Final = "  .,:;crsA23hHG#98&@"
"""From white to black; ParlAI's."""

_SHADES: Final = "".join(RAMP[(255 - grey) * len(RAMP) // 256] for grey in range(256))


class ImageLoader:
    """Reads images in one mode; paths are looked for in `folder`, then in the working directory."""

    def __init__(self, mode: ImageMode = "raw", folder: str | Path | None = None) -> None:
        if isinstance(mode, str) and mode not in MODES:
            what = f"{mode!r} is none of raw, ascii, none, and no function"
            raise BadInput(what, field="image_mode")
        self._mode = mode
        self._folder = Path(folder) if folder is not None else None

    @property
    def loads_images(self) -> bool:
        """Whether images are loaded at all."""
        return self._mode not in ("none", "no_image_model")

    def load(self, given: Any) -> Any:
        """Return an image from a path, a data URL, the bytes of a file, or a Pillow image.

        Text of several lines is taken for a picture in text and returned as given. Raise `BadData`
        if the image cannot be read, `MissingExtra` without Pillow.
        """
        if self._mode == "untouched" or (isinstance(given, str) and "\n" in given):
            return given
        image = self._raw(given)
        if callable(self._mode):
            return self._mode(image)
        return ascii_picture(image) if self._mode == "ascii" else image

    def _raw(self, given: Any) -> Image:
        pillow = _pillow()
        if isinstance(given, pillow.Image):
            image: Image = given
            return convert_to_rgb(image)
        try:
            with pillow.open(io.BytesIO(self._bytes(given))) as image:
                return convert_to_rgb(image)
        except (OSError, ValueError, SyntaxError) as error:
            raise BadData(f"cannot be read: {error}", field="image") from None

    def _bytes(self, given: Any) -> bytes:
        if isinstance(given, bytes | bytearray | memoryview):
            return bytes(given)
        if isinstance(given, str) and given.startswith("data:"):
            try:
                return base64.b64decode(given.partition(",")[2], validate=True)
            except binascii.Error:
                raise BadData("is not a data URL in base64", field="image") from None
        if not isinstance(given, str | Path):
            raise BadData(f"is a {type(given).__name__}, no path or bytes", field="image")
        path = Path(given)
        if self._folder is not None and (self._folder / path).is_file():
            path = self._folder / path
        return path.read_bytes()


def convert_to_rgb(image: Image) -> Image:
    """Return an image as RGB; 16 bits of grey are scaled to 8, as Pillow would clip them."""
    if image.mode.startswith("I;16"):
        grey = image.convert("I").point(lambda value: value * (1 / 257) + 0.5)
        return grey.convert("L").convert("RGB")
    return image.convert("RGB")


def ascii_picture(image: Image) -> str:
    """Draw an image with characters, a line for each row of pixels, without a final newline."""
    small = image.copy()
    small.thumbnail(ASCII_SIZE, _pillow().Resampling.BICUBIC)
    grey = small.convert("L")
    width, pixels = grey.width, grey.tobytes()
    rows = (pixels[start : start + width] for start in range(0, len(pixels), width))
    return "\n".join("".join(_SHADES[pixel] for pixel in row) for row in rows)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra(
            "images need Pillow: pip install 'prolocutor[evaluation]', or take the mode none",
            key="image_mode",
        ) from None
    return Image
