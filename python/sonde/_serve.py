"""sonde.serve: the page of a log, from a script or inside a notebook."""
import atexit
import os
import re
import weakref
from typing import TYPE_CHECKING, Any, Sequence

from . import _notebook
from ._arguments import path
from ._program import program

if TYPE_CHECKING:  # imported where they are used, so that `import sonde` stays fast
    import subprocess

_running: "weakref.WeakSet[Server]" = weakref.WeakSet()


class Server:
    """A server that `sonde.serve` has started. It ends with `stop`, with a `with`, and with the interpreter however that ends.

    >>> with sonde.serve(log, port=0) as server:
    ...     server.url.startswith("http://127.0.0.1:")
    Page  http://127.0.0.1:...
    True
    """

    def __init__(self, process: "subprocess.Popen[str]", url: str, tunnel: str, source: str) -> None:
        self._process = process
        self._owner = os.getpid()
        self.url = url        # with the token: what a browser on this machine opens
        self.tunnel = tunnel  # the ssh command that another machine needs first; empty where this one is not remote
        self.source = source  # where a notebook finds the page: the address, or a path on its own server

    @property
    def running(self) -> bool:
        """Whether it still serves."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End it. Calling it again does nothing.

        >>> server = sonde.serve(log, port=0)
        Page  http://127.0.0.1:...
        >>> server.stop()
        >>> server.running
        False
        """
        if os.getpid() != self._owner:  # a forked child leaves its parent's server alone
            return
        import subprocess
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            pipe.close()
        _running.discard(self)

    def iframe(self, height: int = 800) -> str:
        """The HTML that shows the page inside another one.

        >>> with sonde.serve(log, port=0) as server:
        ...     "<iframe" in server.iframe()
        Page  http://127.0.0.1:...
        True
        """
        import html
        source = html.escape(self.source)
        return (f'<iframe src="{source}" width="100%" height="{int(height)}" frameborder="0"></iframe>'
                f'<div><a href="{source}" target="_blank">Open the page in a tab</a></div>')

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<sonde.Server {self.url.partition('?')[0]}{'' if self.running else ' stopped'}>"


def serve(*logdirs: str | os.PathLike[str], port: int | None = None, host: str = "127.0.0.1", path_prefix: str | None = None,
          allow_origin: str | Sequence[str] = (), height: int = 800) -> Server:
    """Serve the page for log directories beside this program, and show it inside a notebook.

    Without a port it is 6006 or the next free one; 0 takes any. Only this machine can reach it unless `host` says
    otherwise. On a remote machine it prints the `ssh -L` line that your own machine needs.

    Behind a proxy, `path_prefix` is the path below which the proxy serves the page, in which "{port}" becomes the port, and
    `allow_origin` the address of the notebook as browsers see it, "https://hub.example.org". On JupyterHub with
    jupyter-server-proxy both are found by themselves, the address only where JUPYTERHUB_PUBLIC_URL has it.

    >>> server = sonde.serve(log, port=0)
    Page  http://127.0.0.1:...
    >>> server.stop()
    """
    if not logdirs:
        raise ValueError("logdirs must name at least one directory")
    folders = [path("logdirs", each) for each in logdirs]
    if port is not None and (isinstance(port, bool) or not isinstance(port, int)):
        raise TypeError(f"port must be an int, not {port!r}")
    if port is not None and not 0 <= port <= 65535:
        raise ValueError(f"port must be from 0 to 65535, not {port}")
    notebook = _notebook.in_notebook()
    if path_prefix is None and notebook:
        path_prefix = _notebook.proxy_prefix()
    if path_prefix and "{port}" in path_prefix:
        port = port or _free_port(host)
        path_prefix = path_prefix.replace("{port}", str(port))
    allowed = [allow_origin] if isinstance(allow_origin, str) else list(allow_origin)
    if notebook and not allowed:
        allowed = _notebook.origins()
    command = [program(), "serve", *folders, "--host", host, "--stop-at-eof"]
    if port is not None:
        command += ["--port", str(port)]
    if path_prefix:
        command += ["--path-prefix", path_prefix]
    for origin in allowed:
        command += ["--allow-origin", origin]
    server = _start(command, proxied=bool(path_prefix), allowed=allowed)
    lines = [f"Page  {server.url}"]
    if server.tunnel:
        lines.append(f"Far   {server.tunnel}   run this first on the machine with your browser")
    if notebook:
        _notebook.display(server.iframe(height), "\n".join(lines))
    if not notebook or server.tunnel:
        print("\n".join(lines), flush=True)
    return server


def _start(command: list[str], *, proxied: bool, allowed: list[str]) -> Server:
    import subprocess
    import tempfile
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        # The pipe to its standard input tells it when this process is gone.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   encoding="utf-8", env=os.environ | {"NO_COLOR": "1"})
        told = ""
        for line in process.stdout:
            told += line
            if "Ctrl-C" in line:  # its last line
                break
        url = re.search(r"^Page\s+(\S+)", told, re.MULTILINE)
        if url is None:
            process.wait()
            process.stdin.close()
            process.stdout.close()
            errors.seek(0)
            raise OSError(errors.read().strip().removeprefix("sonde: ") or "the server ended without a word")
    tunnel = re.search(r"^Far\s+(.*?)   ", told, re.MULTILINE)
    server = Server(process, url[1], tunnel[1] if tunnel else "", _source(url[1], proxied, allowed))
    _running.add(server)
    return server


def _source(url: str, proxied: bool, allowed: list[str]) -> str:
    """Where a notebook's browser finds the page."""
    import urllib.parse
    parts = urllib.parse.urlsplit(url)
    if proxied:  # the proxy is the notebook's own server
        return urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))
    if any(urllib.parse.urlsplit(origin).hostname == "localhost" for origin in allowed) and parts.hostname == "127.0.0.1":
        # Browsers give a page in a frame its cookies only where both have the same host, and most open localhost.
        return urllib.parse.urlunsplit(parts._replace(netloc=f"localhost:{parts.port}"))
    return url


def _free_port(host: str) -> int:
    import socket
    with socket.create_server((host, 0)) as listener:
        return listener.getsockname()[1]


@atexit.register
def _stop_all() -> None:
    for server in list(_running):
        server.stop()
