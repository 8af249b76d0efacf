"""sonde.transformers.Callback: a callback of the Trainer of transformers that can watch the model too."""
import os
from typing import Any

try:
    from transformers import TrainerCallback as _TrainerCallback
except ImportError:
    raise ImportError("sonde.transformers needs transformers: pip install transformers") from None

from ._arguments import path, recording, watching
from ._recorder import Recorder
from ._watch import default_directory, watch as _watch

__all__ = ["Callback"]


class Callback(_TrainerCallback):
    """Writes what the Trainer logs, its arguments and, with `watch`, every layer. `watch` is True, or a dict with the arguments
    of `sonde.watch`. Without a `log_dir` it writes into runs/<time>-<host> below the Trainer's output directory.

    >>> trainer = transformers.Trainer(model, args, callbacks=[sonde.transformers.Callback("logs/run", watch=True)])  # doctest: +SKIP
    """

    def __init__(self, log_dir: str | os.PathLike[str] | None = None, *, watch: bool | dict[str, Any] = False, policy: Any = None,
                 **options: Any) -> None:
        self._log_dir = None if log_dir is None else path("log_dir", log_dir)
        self._watch_options = watching(watch)
        self._options = recording(policy, options)
        self.recorder: Recorder | None = None
        self.watched: Any = None

    def _open(self, args: Any) -> Recorder:
        if self.recorder is None or self.recorder.closed:
            directory = self._log_dir or os.path.join(args.output_dir or ".", default_directory())
            self.recorder = Recorder(directory, **self._options)
        return self.recorder

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        """Opens the run, and watches the model."""
        if not state.is_world_process_zero:
            return
        rec = self._open(args)
        rec.text("args", "```json\n" + args.to_json_string() + "\n```", state.global_step)
        if self._watch_options is not False and model is not None:
            self.watched = _watch(model, rec, **self._watch_options)
            self.watched.step = state.global_step

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Steps have the numbers of the Trainer."""
        if self.watched is not None:
            self.watched.step = state.global_step

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """For policies that say `every = "epoch"`."""
        if self.recorder is not None and not self.recorder.closed and state.is_world_process_zero:
            self.recorder.epoch(int(state.epoch or 0))

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Numbers, as train/<name>, eval/<name> and test/<name>."""
        if not state.is_world_process_zero:
            return
        rec = self._open(args)
        for name, value in (logs or {}).items():
            if isinstance(value, (int, float)):
                rec.scalar(_tag(name), value, state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The hooks are removed, and the files complete."""
        if self.watched is not None:
            self.watched.remove()
            self.watched = None
        if self.recorder is not None and not self.recorder.closed:
            self.recorder.flush()


def _tag(name: str) -> str:
    for group in ("eval", "test"):
        if name.startswith(f"{group}_"):
            return f"{group}/{name[len(group) + 1:]}"
    return f"train/{name}"
