"""sonde run: a script with its models watched and its writers replaced, without a changed line."""
import functools
import importlib.abc
import importlib.machinery
import os
import pathlib
import re
import sys
import threading
import traceback
import types
from typing import Any, Callable

from ._watch import default_directory

_QUIET_STEPS = 100  # optimizer steps without a new model, after which the script is no longer searched for others


def known_options() -> dict[str, str]:
    """The options and the names of their values, "" for a switch: run_options.txt, which the command's help is made from."""
    with open(os.path.join(os.path.dirname(__file__), "run_options.txt"), encoding="utf-8") as file:
        lines = [line.partition("\t")[0].partition(" ") for line in file]
    return {name: value for name, _, value in lines}


class Options:
    """The command line: options of ours up to the script, whose arguments follow. A ValueError says what is wrong."""

    def __init__(self, arguments: list[str]) -> None:
        known = known_options()
        given: dict[str, Any] = {}
        words = list(arguments)
        while words and words[0].startswith("-") and words[0] != "-":
            name, equals, value = words.pop(0).partition("=")
            if name == "--":
                break
            if name not in known:
                raise ValueError(f"there is no option '{name}'{_nearest(name, known)}")
            if not known[name] and equals:
                raise ValueError(f"{name} takes no value")
            if known[name] and not equals and words:
                value = words.pop(0)
            if known[name] and not value:
                raise ValueError(f"{name} needs a value: {name} {known[name]}")
            given[name] = value if known[name] else True
        if not words:
            raise ValueError("SCRIPT.py is missing; usage: sonde run "
                             + " ".join(f"[{name} {value}]" if value else f"[{name}]" for name, value in known.items())
                             + " SCRIPT.py [ARGUMENT...]")
        self.script, *self.arguments = words
        self.watch: str | None = given.get("--watch")
        self.every: int = _whole_number("--every", given.get("--every", "1"))
        self.policy = pathlib.Path(given["--policy"]) if "--policy" in given else None
        self.log: str | None = given.get("--log")
        self.serve, self.dry = "--serve" in given, "--dry" in given
        self._check()

    def _check(self) -> None:
        """What would fail later, in the middle of the script."""
        if os.path.isdir(self.script):
            raise ValueError(f"'{self.script}' is a folder; name the script in it")
        for path in (self.script, self.policy):
            if path is not None and not os.path.isfile(path):
                raise ValueError(f"there is no file '{path}'")
        if self.policy is not None:
            _check_policy(self.policy)
        try:
            re.compile(self.watch or "")
        except re.error as error:
            raise ValueError(f"--watch: '{self.watch}' is no regular expression: {error}") from None
        if self.log is not None and not self.dry:
            _check_folder(self.log)


def _nearest(name: str, known: dict[str, str]) -> str:
    import difflib
    found = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {found[0]}?" if found else f"; there are {', '.join(known)}"


def _whole_number(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit()) or int(value) < 1:
        raise ValueError(f"{name} needs a whole number from 1, not '{value}'")
    return int(value)


def _check_policy(path: pathlib.Path) -> None:
    from . import _core
    from ._policy import policy_text
    try:
        text, source = policy_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--policy: '{path}' cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    _core.check_policy(text, source)


def _check_folder(directory: str) -> None:
    """That a folder is there, or can be made: nothing is made before something is recorded."""
    place = os.path.abspath(directory)
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        raise ValueError(f"--log: '{directory}' cannot be a folder, since '{place}' is a file; name another folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise ValueError(f"--log: '{place}' cannot be written to; name another folder, or change its permissions")


class Session:
    """What is watched while the script runs."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.directory = options.log or default_directory()
        self._names: set[str] = set()
        self._lock = threading.RLock()

    def say(self, sentence: str) -> None:
        """To standard error: standard output is the script's."""
        print(f"sonde: {sentence}", file=sys.stderr, flush=True)

    def folder(self, name: str) -> str:
        """Of one model: the first one has the log itself, others a folder of it."""
        with self._lock:
            path = self.directory if not self._names else os.path.join(self.directory, name)
            number = 2
            while path in self._names:
                path = os.path.join(self.directory, f"{name}-{number}")
                number += 1
            self._names.add(path)
            return path

    # ---- torch

    def on_torch(self, torch: Any) -> None:
        from torch.nn.modules.module import register_module_forward_pre_hook
        from torch.optim.optimizer import register_optimizer_step_post_hook
        known: set[int] = set()
        kept: list[Any] = []  # so that no other module gets their addresses
        quiet = [0]
        compiling = torch.compiler.is_compiling

        def look(module: Any, args: Any) -> None:
            if compiling() or id(module) in known:
                return
            with self._lock:
                if id(module) in known:
                    return
                kept.append(module)
                known.update(id(each) for each in module.modules())
                quiet[0] = 0
                if next(module.parameters(), None) is None:
                    return
                try:
                    self._watch_module(module, args)
                except Exception as error:  # the script must not notice
                    self.say(f"{type(module).__name__} is not watched: {error}")

        search = register_module_forward_pre_hook(look)

        def count(*_: Any) -> None:
            quiet[0] += 1
            if quiet[0] == _QUIET_STEPS:
                search.remove()
                counting.remove()
                kept.clear()

        counting = register_optimizer_step_post_hook(count)

    def _watch_module(self, module: Any, args: Any) -> None:
        from ._recorder import Recorder
        from ._torch_names import Selection, is_wrapper, plain_path, runs
        from ._watch import watch
        name = type(module).__name__
        selection = Selection(self.options.watch)
        modules = {plain_path(path, module): each for path, each in module.named_modules() if not is_wrapper(each)}
        selection.restrict(list(modules))
        matched = [path or name for path, each in modules.items() if runs(each) and selection.match(path, each)]
        if not matched:
            return self.say(f"{name} has no module that --watch '{self.options.watch}' matches; it is not watched")
        if self.options.dry:
            return self.say(f"would watch {len(matched)} modules of {name}: {', '.join(matched[:20])}"
                            + (f" and {len(matched) - 20} more" if len(matched) > 20 else ""))
        every_kind = self.options.policy is not None
        watched = watch(module, Recorder(self.folder(name), policy=self.options.policy), layers=self.options.watch,
                        every=self.options.every, gradients=every_kind, weights=every_kind, updates=every_kind)
        self.say(f"watching {len(matched)} modules of {name} into {watched.recorder.directory}")
        watched._steps.begin_pass(module, args, {})  # this call's own hooks are read before it begins

    # ---- Keras

    def on_keras(self, keras: Any) -> None:
        model = keras.Model
        own = model.fit

        @functools.wraps(own)
        def fit(self_: Any, *args: Any, **kwargs: Any) -> Any:
            if len(args) > 5:  # x, y, batch_size, epochs, verbose, callbacks
                args, given = (*args[:5], None, *args[6:]), args[5]
            else:
                given = kwargs.pop("callbacks", None)
            callback = self._keras_callback(self_)
            inserted = _with_callback(given, callback) if callback is not None else given
            if len(args) > 5:
                args = (*args[:5], inserted, *args[6:])
            else:
                kwargs["callbacks"] = inserted
            return own(self_, *args, **kwargs)

        model.fit = fit

    def _keras_callback(self, model: Any) -> Any:
        if self.options.dry:
            self.say(f"would watch the Keras model {model.name}")
            return None
        try:
            from . import keras
        except ImportError as error:
            self.say(f"the Keras model {model.name} is not watched: {error}")
            return None
        folder = self.folder(model.name)
        try:
            callback = keras.Recorder(folder, layers=self.options.watch, every=self.options.every, policy=self.options.policy)
        except Exception as error:  # the script must not notice
            self.say(f"the Keras model {model.name} is not watched: {error}")
            return None
        self.say(f"watching the Keras model {model.name} into {folder}")
        return callback

    # ---- Writers

    def on_torch_writer(self, module: Any) -> None:
        module.SummaryWriter = self._writer()

    def on_tensorflow(self, tensorflow: Any) -> None:
        if self.options.dry:
            return
        try:
            from . import tf_summary
        except ImportError as error:
            return self.say(f"tf.summary is not replaced: {error}")
        tensorflow.summary = _Overlay(tf_summary, tensorflow.summary)

    def _writer(self) -> Any:
        from ._writer import SummaryWriter
        directory = self.directory

        class Writer(SummaryWriter):
            __doc__ = SummaryWriter.__doc__

            def __init__(self, log_dir: Any = None, comment: str = "", *args: Any, logdir: Any = None, write_to_disk: bool = True,
                         **kwargs: Any) -> None:
                if not write_to_disk:
                    log_dir = os.devnull
                super().__init__(log_dir or logdir or directory, comment, *args, **kwargs)

        Writer.__name__ = Writer.__qualname__ = "SummaryWriter"
        return Writer


def _with_callback(given: Any, callback: Any) -> Any:
    if given is None:
        return [callback]
    if isinstance(given, (list, tuple)):
        return [*given, callback]
    if hasattr(given, "append"):  # a CallbackList
        given.append(callback)
        return given
    return [given, callback]


class _Overlay(types.ModuleType):
    """A module with the functions of ours, and the rest of its own."""

    def __init__(self, ours: Any, own: Any) -> None:
        super().__init__(own.__name__, own.__doc__)
        self.__dict__["_parts"] = (ours, own)

    def __getattr__(self, name: str) -> Any:
        ours, own = self.__dict__["_parts"]
        if not name.startswith("_") and hasattr(ours, name):
            return getattr(ours, name)
        return getattr(own, name)


class _Loader(importlib.abc.Loader):
    """Loads a module as its own loader does, and calls a function afterwards. Without a loader the module is empty."""

    def __init__(self, loader: Any, then: Callable[[Any], None], optional: bool) -> None:
        self._loader, self._then, self._optional = loader, then, optional

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec) if self._loader is not None else None

    def exec_module(self, module: Any) -> None:
        if self._loader is not None:
            try:
                self._loader.exec_module(module)
            except ImportError:  # torch.utils.tensorboard without tensorboard
                if not self._optional:
                    raise
        self._then(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for the modules that are changed after their import."""

    def __init__(self, changes: dict[str, tuple[Callable[[Any], None], bool]]) -> None:
        self._changes = changes

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        change = self._changes.get(name)
        if change is None:
            return None
        then, optional = change

        def once(module: Any) -> None:  # now, not when a spec is found: some only look whether a module is installed
            if self._changes.pop(name, None) is not None:
                then(module)

        spec = self._found_by_others(name, path, target)
        if spec is None:
            if not optional:
                return None
            return importlib.machinery.ModuleSpec(name, _Loader(None, once, True))
        spec.loader = _Loader(spec.loader, once, optional)
        return spec

    def _found_by_others(self, name: str, path: Any, target: Any) -> Any:
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                return spec
        return None


def install(session: Session) -> None:
    """Changes the frameworks when the script imports them."""
    changes = {"torch": (session.on_torch, False), "keras": (session.on_keras, False)}
    if not session.options.dry:
        changes |= {"torch.utils.tensorboard": (session.on_torch_writer, True), "tensorboardX": (session.on_torch_writer, True),
                    "tensorflow": (session.on_tensorflow, False)}
    sys.meta_path.insert(0, _Finder(changes))
    for name, (then, _) in list(changes.items()):  # what this package itself has imported
        if name in sys.modules:
            del changes[name]
            then(sys.modules[name])


def main(arguments: list[str]) -> int:
    """Runs the script in this interpreter. Returns the exit code, unless the script ends it itself."""
    try:
        options = Options(arguments)
        with open(options.script, "rb") as file:
            source = file.read()
    except ValueError as error:
        print(f"sonde: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"sonde: '{error.filename}' cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    session = Session(options)
    if not options.dry:
        session.say(f"recording into {session.directory}")
    if options.serve and not options.dry:
        _serve(session)
    install(session)
    script = types.ModuleType("__main__")
    script.__file__, script.__builtins__ = options.script, __builtins__
    sys.modules["__main__"] = script
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(options.script))
    try:
        exec(compile(source, options.script, "exec"), script.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        return _failed(error, options.script)
    return 0


def _serve(session: Session) -> None:
    import contextlib
    from ._serve import serve
    os.makedirs(session.directory, exist_ok=True)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            session.server = serve(session.directory)
    except OSError as error:
        session.say(f"the page is not served: {error}")


def _failed(error: BaseException, script: str) -> int:
    """What the interpreter does with an error that nobody has caught: the traceback begins in the script."""
    tail = error.__traceback__
    while tail is not None and tail.tb_frame.f_code.co_filename != script:
        tail = tail.tb_next
    if isinstance(error, SyntaxError) and tail is None:
        error.__traceback__ = None
    try:
        sys.excepthook(type(error), error.with_traceback(tail), tail)
    except Exception:
        traceback.print_exc()
    if isinstance(error, KeyboardInterrupt):
        import atexit
        import signal
        atexit._run_exitfuncs()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 1
