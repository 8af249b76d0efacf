"""Where this interpreter runs: in a notebook or not, and how a browser reaches the notebook."""
import os
import sys
from typing import Any


def in_notebook() -> bool:
    """Whether what is displayed becomes HTML: a kernel of Jupyter, not IPython in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class _Html:
    def __init__(self, html: str, text: str) -> None:
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


def display(html: str, text: str) -> None:
    """Show HTML in a notebook, or the text in a front end that has none."""
    import IPython.display
    IPython.display.display(_Html(html, text))


def _server_info() -> dict[str, Any]:
    """What the notebook's server says about itself in its runtime file; empty where it is not found."""
    import json
    parent = os.environ.get("JPY_PARENT_PID", "")
    home = os.environ.get("JUPYTER_DATA_DIR") or os.path.join(
        os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "jupyter")
    folder = os.environ.get("JUPYTER_RUNTIME_DIR") or os.path.join(home, "runtime")
    for name in (f"jpserver-{parent}.json", f"nbserver-{parent}.json"):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            continue
    return {}


def origins() -> list[str]:
    """The addresses at which a browser may have opened this notebook."""
    public = os.environ.get("JUPYTERHUB_PUBLIC_URL") or os.environ.get("JUPYTERHUB_PUBLIC_HUB_URL")
    if public:
        return ["/".join(public.split("/")[:3])]
    info = _server_info()
    if not info.get("port"):
        return []
    scheme = "https" if info.get("secure") else "http"
    return [f"{scheme}://{host}:{info['port']}" for host in ("localhost", "127.0.0.1")]


def proxy_prefix() -> str | None:
    """The path below which jupyter-server-proxy serves a port of this machine, with {port} in it; None: there is no proxy."""
    import importlib.util
    base = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    if not base or importlib.util.find_spec("jupyter_server_proxy") is None:
        return None
    return base.rstrip("/") + "/proxy/absolute/{port}"
