"""Points for TensorBoard's projector: tables beside the event file, and projector_config.pbtxt that names them."""
import os
from typing import Any


class Projector:
    """What add_embedding of one writer has saved so far."""

    def __init__(self, log_dir: str) -> None:
        self._log_dir = log_dir
        self._entries: list[str] = []

    def add(self, points: Any, labels: Any, pictures: Any, step: int, tag: str, header: Any) -> None:
        if points.ndim != 2:
            raise ValueError(f"mat must have the shape [points, dimensions], not {list(points.shape)}")
        for name, values in (("metadata", labels), ("label_img", pictures)):
            if values is not None and len(values) != len(points):
                raise ValueError(f"{name} must have as many entries as mat has points, {len(points)}, not {len(values)}")
        encoded = tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")
        folder = f"{step:05}/{encoded}"
        os.makedirs(os.path.join(self._log_dir, folder), exist_ok=True)
        entry = f'tensor_name: "{_escaped(f"{tag}:{step:05}")}"\n  tensor_path: "{_escaped(folder)}/tensors.tsv"\n'
        if labels is not None:
            self._write(f"{folder}/metadata.tsv", _table(labels, header))
            entry += f'  metadata_path: "{_escaped(folder)}/metadata.tsv"\n'
        if pictures is not None:
            self._write(f"{folder}/sprite.png", _sprite(pictures))
            entry += (f'  sprite {{\n    image_path: "{_escaped(folder)}/sprite.png"\n    single_image_dim: '
                      f"{pictures.shape[3]}\n    single_image_dim: {pictures.shape[2]}\n  }}\n")
        rows = ("\t".join(str(number) for number in row) + "\n" for row in points.tolist())
        self._write(f"{folder}/tensors.tsv", "".join(rows).encode())
        self._entries.append(f"embeddings {{\n  {entry}}}\n")
        self._write("projector_config.pbtxt", "".join(self._entries).encode())

    def _write(self, name: str, content: bytes) -> None:
        path = os.path.join(self._log_dir, name)
        with open(path + ".part", "wb") as file:
            file.write(content)
        os.replace(path + ".part", path)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _table(labels: Any, header: Any) -> bytes:
    if not header:
        return ("\n".join(str(label) for label in labels) + "\n").encode()
    rows = [header, *labels]
    if any(len(row) != len(header) for row in rows):
        raise ValueError(f"metadata must have the {len(header)} columns that metadata_header names")
    return "".join("\t".join(str(cell) for cell in row) + "\n" for row in rows).encode()


def _sprite(pictures: Any) -> bytes:
    """All pictures in one square."""
    import math

    import numpy

    from ._arrays import _pillow, grid, png, to_pixels
    if pictures.ndim != 4 or pictures.shape[1] not in (1, 3):
        raise ValueError(f"label_img must have the shape [points, 1 or 3, height, width], not {list(pictures.shape)}")
    colors = pictures.repeat(3, axis=1) if pictures.shape[1] == 1 else pictures
    rows = grid(colors.transpose(0, 2, 3, 1), math.ceil(math.sqrt(len(pictures))))
    square = numpy.zeros((max(rows.shape[:2]), rows.shape[1], 3), rows.dtype)
    square[:rows.shape[0]] = rows
    return png(_pillow().fromarray(to_pixels(square)))
