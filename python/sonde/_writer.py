"""sonde.SummaryWriter: the interface of torch.utils.tensorboard.SummaryWriter, without torch and TensorBoard."""
import json
import os
import time
from typing import Any

from . import _core
from ._arguments import path, seconds
from ._arrays import array, draw_boxes, gif, grid, png, to_hwc, to_pixels
from ._projector import Projector
from ._recorder import Options
from ._wire import varint


class SummaryWriter(Options, _core.Writer):
    """Writes a run for TensorBoard, with the methods and parameters of torch's SummaryWriter.

    `log_dir` is runs/<time>_<host><comment> where it is not given. Everything is written within a tenth of a second, or
    `flush_secs` where that is shorter; `max_queue` is not needed. It is a Recorder too: probes and steps can be recorded
    beside the rest.

    >>> with sonde.SummaryWriter(directory) as w:
    ...     w.add_scalar("loss", 0.5, 1)
    """

    def __init__(self, log_dir: str | os.PathLike[str] | None = None, comment: str = "",
                 purge_step: int | None = None, max_queue: int = 10, flush_secs: float = 120,
                 filename_suffix: str = "", **options: Any) -> None:
        if log_dir is not None:
            path("log_dir", log_dir)
        if not log_dir:
            now = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{os.uname().nodename}{comment}")
        options.setdefault("flush_interval", min(0.1, seconds("flush_secs", flush_secs)))
        super().__init__(log_dir, purge_step=purge_step, file_suffix=filename_suffix, **options)
        self.log_dir = os.fspath(log_dir)
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self._options = options
        self._children: dict[str, SummaryWriter] = {}
        self._projector = Projector(self.log_dir)

    def get_logdir(self) -> str:
        """The directory that is written into.

        >>> writer.get_logdir() == writer.log_dir
        True
        """
        return self.log_dir

    def _group(self, tag: Any, global_step: Any, walltime: float | None) -> Any:
        if not isinstance(tag, str):
            raise TypeError(f"tag must be a str, not {type(tag).__name__}")
        if walltime is not None and not hasattr(walltime, "__float__"):
            raise TypeError(f"walltime must be a number of seconds since 1970 or None, not {type(walltime).__name__}")
        return self.group(_number(global_step), walltime)

    def _child(self, name: str) -> "SummaryWriter":
        child = self._children.get(name)
        if child is None:
            child = self._children[name] = SummaryWriter(os.path.join(self.log_dir, name), filename_suffix=self.filename_suffix,
                                                         flush_secs=self.flush_secs, **self._options)
        return child

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int | None = None,
                    walltime: float | None = None) -> None:
        """Record several numbers that belong into one chart. Each key becomes a run of its own.

        >>> writer.add_scalars("both", {"train": 0.5, "test": 0.6}, 1)
        """
        if not isinstance(tag_scalar_dict, dict):
            raise TypeError(f"tag_scalar_dict must be a dict, not {type(tag_scalar_dict).__name__}")
        for name in (main_tag, *tag_scalar_dict):
            if not isinstance(name, str):
                raise TypeError(f"{'main_tag' if name is main_tag else 'a key of tag_scalar_dict'} must be a str, not {type(name).__name__}")
        walltime = time.time() if walltime is None else walltime
        for tag, value in tag_scalar_dict.items():
            self._child(main_tag.replace("/", "_") + "_" + tag).add_scalar(main_tag, value, global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None,
                   walltime: float | None = None) -> None:
        """Record all elements of a tensor in the event file.

        >>> writer.add_tensor("kernel", [1.0, 2.0], 1)
        """
        with self._group(tag, global_step, walltime) as group:
            group.tensor(tag, tensor)

    def add_histogram(self, tag: str, values: Any, global_step: int | None = None, bins: Any = "tensorflow",
                      walltime: float | None = None, max_bins: int | None = None) -> None:
        """Record the histogram of values. `bins` is "tensorflow", or what numpy.histogram takes.

        >>> writer.add_histogram("kernel_values", [0.1, 0.2, 0.2], 1)
        """
        if isinstance(bins, str) and bins == "tensorflow" and max_bins is None:
            with self._group(tag, global_step, walltime) as group:
                group.histogram(tag, values)
            return
        import numpy
        flat = array(values, "values").reshape(-1).astype(numpy.float64)
        flat = flat[numpy.isfinite(flat)]
        if flat.size == 0:
            raise ValueError("values has no finite element")
        if isinstance(bins, str) and bins == "tensorflow":
            bins = _exponential_edges()
        counts, edges = numpy.histogram(flat, bins=bins)
        if max_bins is not None and len(counts) > max_bins:
            together = len(counts) // max_bins
            starts = numpy.arange(0, len(counts), together)
            counts = numpy.add.reduceat(counts, starts)
            edges = numpy.append(edges[starts], edges[-1])
        used = numpy.flatnonzero(counts)
        if used.size == 0:
            raise ValueError("bins holds none of the values")
        first, last = used[0], used[-1] + 1
        left, right, counts = edges[first:last].copy(), edges[first + 1:last + 1].copy(), counts[first:last]
        left[0], right[-1] = max(left[0], flat.min()), min(right[-1], flat.max())
        with self._group(tag, global_step, walltime) as group:
            group._buckets(tag, left, right, counts)

    def add_histogram_raw(self, tag: str, min: float, max: float, num: int, sum: float, sum_squares: float,  # noqa: A002
                          bucket_limits: Any, bucket_counts: Any, global_step: int | None = None,
                          walltime: float | None = None) -> None:
        """Record a histogram that was computed elsewhere: right edges of the buckets, and how many values each holds.

        >>> writer.add_histogram_raw("raw", 0.0, 2.0, 3, 3.0, 5.0, [1.0, 2.0], [1, 2], 1)
        """
        limits, counts = list(bucket_limits), list(bucket_counts)
        if len(limits) != len(counts):
            raise ValueError(f"bucket_limits and bucket_counts must have the same length, not {len(limits)} and {len(counts)}")
        with self._group(tag, global_step, walltime) as group:
            group._buckets(tag, [min, *limits[:-1]], [*limits[:-1], max], counts)

    def add_image(self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
                  dataformats: str = "CHW") -> None:
        """Record a picture: floats from 0 to 1, or uint8. `dataformats` names the axes.

        >>> import numpy
        >>> writer.add_image("grey", numpy.zeros((16, 16)), 1, dataformats="HW")
        """
        pixels = to_pixels(to_hwc(array(img_tensor, "img_tensor"), dataformats))
        with self._group(tag, global_step, walltime) as group:
            group.image(tag, pixels, "HWC")

    def add_images(self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
                   dataformats: str = "NCHW") -> None:
        """Record a batch of pictures as one, in rows of eight.

        >>> import numpy
        >>> writer.add_images("batch", numpy.zeros((4, 3, 8, 8)), 1)
        """
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any, global_step: int | None = None,
                             walltime: float | None = None, rescale: float = 1, dataformats: str = "CHW",
                             labels: Any = None) -> None:
        """Record a picture with boxes [[xmin, ymin, xmax, ymax], ...] drawn into it, and their labels. Needs Pillow.

        >>> import numpy
        >>> writer.add_image_with_boxes("found", numpy.zeros((3, 16, 16)), numpy.array([[2, 2, 9, 9]]), 1)
        """
        pixels = to_pixels(to_hwc(array(img_tensor, "img_tensor"), dataformats))
        boxes = array(box_tensor, "box_tensor")
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise ValueError(f"box_tensor must have the shape [boxes, 4], not {list(boxes.shape)}")
        if isinstance(labels, str):
            labels = [labels]
        if labels is not None and len(labels) != len(boxes):
            labels = None
        drawn = draw_boxes(pixels, boxes, labels, rescale)
        with self._group(tag, global_step, walltime) as group:
            group._images(tag, pixels.shape[1], pixels.shape[0], png(drawn))

    def add_figure(self, tag: str, figure: Any, global_step: int | None = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Record a figure of Matplotlib, or several side by side. `close` closes it.

        >>> import matplotlib.figure                                        # doctest: +SKIP
        >>> writer.add_figure("plot", matplotlib.figure.Figure(), 1)        # doctest: +SKIP
        """
        import numpy
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        def pixels(one: Any) -> Any:
            if not hasattr(one, "savefig"):
                raise TypeError(f"figure must be a figure of Matplotlib or a list of them, not {type(one).__name__}")
            canvas = FigureCanvasAgg(one)
            canvas.draw()
            drawn = numpy.asarray(canvas.buffer_rgba())[:, :, :3]
            if close:
                import matplotlib.pyplot
                matplotlib.pyplot.close(one)
            return drawn

        if isinstance(figure, list):
            self.add_image(tag, numpy.stack([pixels(one) for one in figure]), global_step, walltime, "NHWC")
        else:
            self.add_image(tag, pixels(figure), global_step, walltime, "HWC")

    def add_video(self, tag: str, vid_tensor: Any, global_step: int | None = None, fps: float = 4,
                  walltime: float | None = None) -> None:
        """Record videos [batch, time, channels, height, width] as an animated GIF, side by side. Needs Pillow.

        >>> import numpy
        >>> writer.add_video("clip", numpy.zeros((1, 2, 3, 8, 8)), 1)
        """
        import numpy
        videos = array(vid_tensor, "vid_tensor")
        if videos.ndim != 5:
            raise ValueError(f"vid_tensor must have the shape [batch, time, channels, height, width], not {list(videos.shape)}")
        if not isinstance(fps, (int, float)) or not fps > 0:
            raise ValueError(f"fps must be a number of frames per second, more than 0, not {fps!r}")
        batch = len(videos)
        places = 1 << (batch - 1).bit_length()
        rows = 1 << (batch.bit_length() - 1) // 2
        padded = numpy.concatenate([videos, numpy.zeros((places - batch, *videos.shape[1:]), videos.dtype)])
        frames = [to_pixels(grid(padded[:, n].transpose(0, 2, 3, 1), places // rows)) for n in range(videos.shape[1])]
        with self._group(tag, global_step, walltime) as group:
            group._images(tag, frames[0].shape[1], frames[0].shape[0], gif(frames, fps))

    def add_audio(self, tag: str, snd_tensor: Any, global_step: int | None = None, sample_rate: int = 44100,
                  walltime: float | None = None) -> None:
        """Record a clip of sound with one channel, floats from -1 to 1.

        >>> writer.add_audio("beep", [0.0, 0.5, 0.0, -0.5], 1, sample_rate=8000)
        """
        import numpy
        sound = array(snd_tensor, "snd_tensor").squeeze()
        if sound.ndim != 1:
            raise ValueError(f"snd_tensor must have one dimension, not {sound.ndim}")
        with self._group(tag, global_step, walltime) as group:
            group.audio(tag, (sound.clip(-1, 1) * 32767).astype(numpy.int16), sample_rate=sample_rate)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Record a text in Markdown.

        >>> writer.add_text("note", "learning rate *halved*", 1)
        """
        with self._group(tag, global_step, walltime) as group:
            if not isinstance(text_string, str):
                raise TypeError(f"text_string must be a str, not {type(text_string).__name__}")
            group.text(tag + "/text_summary", text_string)

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """Record the graph of a torch module, traced with an input. Needs torch.

        >>> writer.add_graph(torch.nn.Linear(2, 1), torch.zeros(1, 2))      # doctest: +SKIP
        """
        from ._torch_graph import trace
        self.graph(trace(model, input_to_model, verbose, use_strict_trace))

    def add_onnx_graph(self, prototxt: Any) -> None:
        """Record the graph of an ONNX file. Needs onnx.

        >>> writer.add_onnx_graph("model.onnx")                             # doctest: +SKIP
        """
        from ._onnx_graph import nodes
        self.graph(nodes(prototxt))

    def add_embedding(self, mat: Any, metadata: Any = None, label_img: Any = None, global_step: int | None = None,
                      tag: str = "default", metadata_header: Any = None) -> None:
        """Save points [points, dimensions] for TensorBoard's projector, with labels and small pictures of them.

        >>> writer.add_embedding([[1.0, 2.0], [3.0, 4.0]], metadata=["a", "b"])
        """
        self._check_open()
        self._projector.add(array(mat, "mat"), metadata, None if label_img is None else array(label_img, "label_img"),
                            _number(global_step), tag, metadata_header)

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: int | None = None,
                     num_thresholds: int = 127, weights: Any = None, walltime: float | None = None) -> None:
        """Record a precision-recall curve: labels of 0 or 1, predictions from 0 to 1.

        >>> writer.add_pr_curve("spam", [0, 1, 1], [0.1, 0.8, 0.6], 1)
        """
        import numpy
        truth, guess = array(labels, "labels"), array(predictions, "predictions")
        if truth.size != guess.size:
            raise ValueError(f"labels and predictions must have the same number of elements, not {truth.size} and {guess.size}")
        if weights is None:
            with self._group(tag, global_step, walltime) as group:
                group.pr_curve(tag, truth, guess, thresholds=num_thresholds)
            return
        truth, guess = truth.reshape(-1).astype(numpy.float64), guess.reshape(-1)
        each = numpy.broadcast_to(array(weights, "weights"), truth.shape).reshape(-1)
        places = numpy.clip(numpy.floor(guess * (num_thresholds - 1)), 0, num_thresholds - 1).astype(numpy.int64)

        def above(weight: Any) -> Any:  # the weight at each threshold or over it
            return numpy.bincount(places, weight, num_thresholds)[::-1].cumsum()[::-1]

        true, false = above(truth * each), above((1 - truth) * each)
        missed = true[0] - true
        self.add_pr_curve_raw(tag, true, false, false[0] - false, missed, true / numpy.maximum(1e-7, true + false),
                              true / numpy.maximum(1e-7, true + missed), global_step, num_thresholds, walltime=walltime)

    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
                         true_negative_counts: Any, false_negative_counts: Any, precision: Any, recall: Any,
                         global_step: int | None = None, num_thresholds: int = 127, weights: Any = None,
                         walltime: float | None = None) -> None:
        """Record a precision-recall curve that was computed elsewhere, one number for each threshold.

        >>> writer.add_pr_curve_raw("raw_curve", [2, 1], [1, 0], [0, 1], [0, 1], [0.7, 1.0], [1.0, 0.5], 1, 2)
        """
        import numpy
        rows = numpy.stack([array(row, "counts").astype(numpy.float32) for row in (
            true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall)])
        with self._group(tag, global_step, walltime) as group:
            # PrCurvePluginData { num_thresholds = 2 }
            group.tensor(tag, rows, plugin="pr_curves", content=b"\x10" + varint(num_thresholds))

    def add_custom_scalars(self, layout: dict[str, dict[str, Any]]) -> None:
        """Record the layout of custom charts: {category: {title: ["Multiline" or "Margin", tags]}}.

        >>> writer.add_custom_scalars({"losses": {"both": ["Multiline", ["train/loss", "test/loss"]]}})
        """
        self.custom_scalars(layout)

    def add_custom_scalars_multilinechart(self, tags: Any, category: str = "default", title: str = "untitled") -> None:
        """Record a chart of several series as the layout.

        >>> other = sonde.SummaryWriter(directory + "/lines")
        >>> other.add_custom_scalars_multilinechart(["train/loss", "test/loss"])
        """
        self.custom_scalars({category: {title: ("Multiline", tags)}})

    def add_custom_scalars_marginchart(self, tags: Any, category: str = "default", title: str = "untitled") -> None:
        """Record a chart of a value between a lower and an upper one as the layout.

        >>> other = sonde.SummaryWriter(directory + "/margin")
        >>> other.add_custom_scalars_marginchart(["loss/mean", "loss/low", "loss/high"])
        """
        self.custom_scalars({category: {title: ("Margin", tags)}})

    def add_mesh(self, tag: str, vertices: Any, colors: Any = None, faces: Any = None, config_dict: Any = None,
                 global_step: int | None = None, walltime: float | None = None) -> None:
        """Record points in space [batch, points, 3], with colours and faces where there are some.

        >>> writer.add_mesh("cloud", [[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]], global_step=1)
        """
        config = "" if config_dict is None else json.dumps(config_dict, sort_keys=True)
        with self._group(tag, global_step, walltime) as group:
            group.mesh(tag, vertices, colors=colors, faces=faces, config=config)

    def add_hparams(self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
                    hparam_domain_discrete: dict[str, list[Any]] | None = None, run_name: str | None = None,
                    global_step: int | None = None) -> None:
        """Record hyper-parameters and what came of them, as a run of its own below this one.

        >>> writer.add_hparams({"lr": 0.1, "batch": 32}, {"accuracy": 0.9}, run_name="first")
        """
        for name, value in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict),
                            ("hparam_domain_discrete", hparam_domain_discrete or {})):
            if not isinstance(value, dict):
                raise TypeError(f"{name} must be a dict, not {type(value).__name__}")
        domains = hparam_domain_discrete or {}
        for name, values in domains.items():
            if name not in hparam_dict or not all(isinstance(each, type(hparam_dict[name])) for each in values):
                raise TypeError(f"hparam_domain_discrete['{name}'] must be a list of the same type as hparam_dict['{name}']")
        if not isinstance(run_name, (str, type(None))):
            raise TypeError(f"run_name must be a str or None, not {type(run_name).__name__}")
        self._check_open()
        directory = os.path.join(self.log_dir, str(time.time()) if run_name is None else run_name)
        with SummaryWriter(directory) as run:
            run.hparams({name: value for name, value in hparam_dict.items() if value is not None},
                        metrics=list(metric_dict), domains=domains)
            for name, value in metric_dict.items():
                run.add_scalar(name, value, global_step)

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("the recorder is closed")

    def flush(self) -> None:
        """Return when everything recorded so far is in the files.

        >>> writer.flush()
        """
        super().flush()
        for child in self._children.values():
            child.flush()

    def close(self) -> None:
        """Flush and end the files. Recording after it raises ValueError.

        >>> with sonde.SummaryWriter(directory + "/other") as other:
        ...     other.add_scalar("loss", 1.0)
        >>> other.closed
        True
        """
        for child in self._children.values():
            child.close()
        super().close()


def _number(global_step: Any) -> int:
    """int(step), as torch takes it; None is 0."""
    if global_step is None:
        return 0
    try:
        if isinstance(global_step, (str, bytes)):
            raise TypeError
        return int(global_step)
    except (TypeError, ValueError):
        raise TypeError(f"global_step must be an int or None, not {type(global_step).__name__}") from None


def _exponential_edges() -> Any:
    """The edges that torch calls "tensorflow": from 1e-12 to 1e20 in steps of a tenth, both signs, and zero."""
    edges = [1e-12]
    while edges[-1] * 1.1 < 1e20:
        edges.append(edges[-1] * 1.1)
    return [-edge for edge in reversed(edges)] + [0.0] + edges
