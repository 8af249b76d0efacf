"""Pictures for SummaryWriter, in NumPy; Pillow where something is drawn or animated."""
import io
from typing import Any


def array(values: Any, argument: str) -> Any:
    """Values as a NumPy array: tensors of any framework and device, lists, numbers.

    >>> array([1, 2], "values").shape
    (2,)
    """
    import numpy
    if hasattr(values, "detach"):  # torch
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":
            values = values.float()
    try:
        found = numpy.asarray(values)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{argument} must be a tensor, not {type(values).__name__}: {error}") from None
    if found.dtype == object or found.dtype.kind in "USV" and found.dtype.name not in _SMALL_FLOATS:
        raise TypeError(f"{argument} must be a tensor of numbers, not {type(values).__name__}")
    return found.astype(numpy.float32) if found.dtype.name in _SMALL_FLOATS else found


_SMALL_FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def to_hwc(picture: Any, axes: str) -> Any:
    """A picture, or a batch of them in rows of eight, as [height, width, colours].

    >>> import numpy
    >>> to_hwc(numpy.zeros((9, 1, 4, 5)), "NCHW").shape
    (8, 40, 3)
    """
    axes = axes.upper()
    if sorted(axes) not in (sorted(known) for known in ("HW", "HWC", "NHWC", "NHW")):
        raise ValueError(f"dataformats must name the axes of a picture, such as 'CHW' or 'NHWC', not '{axes}'")
    if picture.ndim != len(axes):
        raise ValueError(f"img_tensor must have {len(axes)} dimensions for dataformats '{axes}', not {picture.ndim}")
    if "C" not in axes:
        picture, axes = picture[..., None], axes + "C"
    if "N" in axes:
        picture = grid(picture.transpose([axes.index(axis) for axis in "NHWC"]), 8)
    else:
        picture = picture.transpose([axes.index(axis) for axis in "HWC"])
    if picture.shape[2] not in (1, 3, 4):
        raise ValueError(f"img_tensor must have 1, 3 or 4 channels, not {picture.shape[2]}")
    return picture.repeat(3, axis=2) if picture.shape[2] == 1 else picture


def grid(pictures: Any, columns: int) -> Any:
    """[n, height, width, colours] side by side, at most `columns` in a row; what is left over stays black.

    >>> import numpy
    >>> grid(numpy.zeros((3, 4, 5, 3)), 2).shape
    (8, 10, 3)
    """
    import numpy
    number, height, width, colors = pictures.shape
    columns = min(number, columns)
    rows = -(-number // columns)
    cells = numpy.zeros((rows * columns, height, width, colors), pictures.dtype)
    cells[:number] = pictures
    return cells.reshape(rows, columns, height, width, colors).swapaxes(1, 2).reshape(rows * height, columns * width, colors)


def to_pixels(picture: Any) -> Any:
    """Numbers from 0 to 1 as uint8; uint8 as it is.

    >>> to_pixels(array([0.0, 0.5, 2.0], "picture")).tolist()
    [0, 127, 255]
    """
    import numpy
    if picture.dtype == numpy.uint8:
        return picture
    with numpy.errstate(invalid="ignore"):
        return numpy.nan_to_num(picture.astype(numpy.float32) * 255).clip(0, 255).astype(numpy.uint8)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("boxes, videos and sprites need Pillow: pip install pillow") from None
    return Image


def png(picture: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return file.getvalue()


def draw_boxes(pixels: Any, boxes: Any, labels: Any, rescale: float) -> Any:
    """A picture of Pillow with red boxes, each with its label at the lower left."""
    picture = _pillow().fromarray(pixels)
    from PIL import ImageDraw, ImageFont, Image
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default()
    for number, (left, top, right, bottom) in enumerate(boxes.tolist()):
        draw.line([(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], width=2, fill="Red")
        if labels is None or not labels[number]:
            continue
        from_left, from_top, to_right, to_bottom = font.getbbox(labels[number])
        width, height = to_right - from_left, to_bottom - from_top
        margin = -(-height // 20)
        draw.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill="Red")
        draw.text((left + margin, bottom - height - margin), labels[number], fill="black", font=font)
    size = (int(picture.width * rescale), int(picture.height * rescale))
    return picture.resize(size, Image.Resampling.LANCZOS)


def gif(frames: list[Any], fps: float) -> bytes:
    """Frames of uint8 [height, width, 3] as an animated GIF that repeats for ever."""
    image = _pillow()
    pictures = [image.fromarray(frame if frame.shape[2] != 1 else frame.repeat(3, axis=2)) for frame in frames]
    file = io.BytesIO()
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=1000 / fps, loop=0)
    return file.getvalue()
