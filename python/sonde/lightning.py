"""sonde.lightning.Logger: a logger of Lightning that can watch the module too."""
import os
from typing import Any

try:
    import lightning.pytorch as _lightning
except ImportError:
    raise ImportError("sonde.lightning needs Lightning: pip install lightning") from None
from lightning.pytorch.loggers.logger import Logger as _Logger
from lightning.pytorch.loggers.logger import rank_zero_experiment
from lightning.pytorch.utilities.rank_zero import rank_zero_only

from ._arguments import path, recording, watching
from ._watch import watch as _watch
from ._writer import SummaryWriter

__all__ = ["Logger"]


class Logger(_Logger):
    """Writes into save_dir/name/version_<n>, as Lightning's own TensorBoard logger does: metrics, hyperparameters and, with
    `watch`, every layer. `watch` is True, or a dict with the arguments of `sonde.watch`.

    >>> trainer = L.Trainer(logger=sonde.lightning.Logger("logs", watch=True))      # doctest: +SKIP
    >>> trainer = L.Trainer(logger=sonde.lightning.Logger("logs", watch={"layers": "encoder.*", "gradients": True}))  # doctest: +SKIP
    """

    def __init__(self, save_dir: str | os.PathLike[str], name: str | None = "lightning_logs", version: int | str | None = None, *,
                 watch: bool | dict[str, Any] = False, policy: Any = None, **options: Any) -> None:
        super().__init__()
        if not isinstance(name, (str, type(None))):
            raise TypeError(f"name must be a str or None, not {type(name).__name__}")
        if not isinstance(version, (int, str, type(None))) or isinstance(version, bool):
            raise TypeError(f"version must be an int, a str or None, not {version!r}")
        self._save_dir, self._name, self._version = path("save_dir", save_dir), name or "", version
        self._watch_options = watching(watch)
        self._options = recording(policy, options, "comment", "max_queue", "flush_secs", "filename_suffix")
        self._writer: SummaryWriter | None = None
        self._watched: Any = None

    @property
    def name(self) -> str:
        """The name of the experiment: a folder of save_dir."""
        return self._name

    @property
    def version(self) -> int | str:
        """The number of the run, one more than the largest there is, or what was given."""
        if self._version is None:
            folder = os.path.join(self._save_dir, self._name)
            taken = [int(each[8:]) for each in (os.listdir(folder) if os.path.isdir(folder) else ())
                     if each.startswith("version_") and each[8:].isdigit()]
            self._version = max(taken, default=-1) + 1
        return self._version

    @property
    def save_dir(self) -> str:
        """Where all experiments are."""
        return self._save_dir

    @property
    def log_dir(self) -> str:
        """Where this run is."""
        version = self.version if isinstance(self.version, str) else f"version_{self.version}"
        return os.path.join(self._save_dir, self._name, version)

    @property
    @rank_zero_experiment
    def experiment(self) -> SummaryWriter:
        """The sonde.SummaryWriter behind it, for everything else."""
        if self._writer is None:
            self._writer = SummaryWriter(self.log_dir, **self._options)
        return self._writer

    @property
    def watched(self) -> Any:
        """What `sonde.watch` has returned, once training has begun."""
        return self._watched

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, Any], step: int | None = None) -> None:
        """Called by Lightning with the numbers of a step."""
        for name, value in metrics.items():
            if isinstance(value, dict):
                self.experiment.add_scalars(name, value, step)
            else:
                self.experiment.add_scalar(name, value, step)

    @rank_zero_only
    def log_hyperparams(self, params: Any, metrics: dict[str, float] | None = None) -> None:
        """Called by Lightning with the hyperparameters."""
        values = {key: value if isinstance(value, (bool, int, float, str)) else str(value) for key, value in _flat(params).items()}
        if values or metrics:
            self.experiment.hparams(values, metrics=list(metrics or ()))
            self.log_metrics(metrics or {}, 0)

    @rank_zero_only
    def log_graph(self, model: Any, input_array: Any = None) -> None:
        """Called by Lightning when training begins: the module is watched from now on."""
        if self._watch_options is False or self._watched is not None:
            return
        self._watched = _watch(model, self.experiment, **self._watch_options)
        trainer = getattr(model, "_trainer", None)
        if trainer is not None:
            self._watched.step = trainer.global_step

    @rank_zero_only
    def save(self) -> None:
        """Everything so far is in the files when it returns."""
        if self._writer is not None:
            self._writer.flush()

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Called by Lightning at the end: the hooks are removed, and the files complete."""
        if self._watched is not None:
            self._watched.remove()
            self._watched = None
        if self._writer is not None:
            self._writer.flush()


def _flat(params: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in (params if isinstance(params, dict) else vars(params)).items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{key}/")
        else:
            found[f"{prefix}{key}"] = value
    return found
