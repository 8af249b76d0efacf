"""sonde.serve: a real server for a log, its address, how it ends, and what a notebook gets."""
import contextlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request

from test_show import FakeKernel
from testing import InFolder

import sonde

PATIENCE = 60  # seconds


def ask(url: str, **headers) -> urllib.request.addinfourl:
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE)


def api(server: sonde.Server, question: str) -> dict:
    with ask(server.url.partition("?")[0] + "api/" + question) as answer:
        return json.load(answer)


def allows(server: sonde.Server, origin: str, host: str | None = None) -> bool:
    """Whether the page may be used from this address, under that host name."""
    address, _, token = server.url.partition("?token=")
    headers = {"Origin": origin, "Authorization": f"Bearer {token}"} | ({"Host": host} if host else {})
    try:
        with ask(address + "api/status", **headers) as answer:
            return answer.headers["Access-Control-Allow-Origin"] == origin
    except urllib.error.HTTPError as error:
        error.close()
        return False


def wait_until(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("it did not happen")
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Serve(InFolder):
    def setUp(self):
        super().setUp()
        with sonde.Recorder(self.log / "train") as rec:
            rec.scalar("loss", 0.5, 1)
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("SSH_", "JUPYTER", "JPY_"))}
        self.enterContext(unittest.mock.patch.dict(os.environ, clean, clear=True))

    def serve(self, *logdirs, **options):
        """The server, and what was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            server = sonde.serve(*(logdirs or (self.log,)), **{"port": 0} | options)
        self.addCleanup(server.stop)
        return server, out.getvalue()

    def test_serves_the_log_and_prints_where(self):
        server, printed = self.serve()
        self.assertEqual(printed, f"Page  {server.url}\n")
        self.assertEqual([run["run"] for run in api(server, "runs")["runs"]], ["train"])
        self.assertIn("sonde.Server http://127.0.0.1:", repr(server))

    def test_serves_several_directories(self):
        with sonde.Recorder(self.folder / "other/x") as rec:
            rec.scalar("loss", 1, 1)
        server, _ = self.serve(self.log, str(self.folder / "other"))
        self.assertEqual([run["run"] for run in api(server, "runs")["runs"]], ["log/train", "other/x"])

    def test_stop_ends_it(self):
        server, _ = self.serve()
        server.stop()
        server.stop()  # does nothing
        self.assertFalse(server.running)
        with self.assertRaises(urllib.error.URLError):
            ask(server.url)
        with self.serve()[0] as server:
            self.assertTrue(server.running)
        self.assertFalse(server.running)

    def test_ends_with_the_interpreter_however_that_ends(self):
        program = "import sonde, sys, time\nserver = sonde.serve(sys.argv[1], port=0)\nprint(server._process.pid, flush=True)\n"
        for end, number in (("", None), ("raise SystemExit(3)", None), ("time.sleep(600)", signal.SIGKILL)):
            process = subprocess.Popen([sys.executable, "-B", "-c", program + end, self.log], stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.stdout.close)
            process.stdout.readline()
            pid = int(process.stdout.readline())
            if number is not None:
                self.assertTrue(alive(pid))
                process.send_signal(number)
            process.wait(PATIENCE)
            wait_until(lambda pid=pid: not alive(pid))

    def test_what_goes_wrong_is_one_sentence(self):
        with self.assertRaisesRegex(OSError, "none"):
            sonde.serve(self.folder / "none", port=0)
        server, _ = self.serve()
        taken = int(re.search(r":(\d+)/", server.url)[1])
        with self.assertRaisesRegex(OSError, f"port {taken}"):
            sonde.serve(self.log, port=taken)
        for error, message, arguments in ((TypeError, "port must be an int, not 'x'", {"port": "x"}),
                                          (ValueError, "port must be from 0 to 65535, not 70000", {"port": 70000})):
            with self.assertRaisesRegex(error, message):
                sonde.serve(self.folder, **arguments)
        with self.assertRaisesRegex(TypeError, "logdirs must be a str or a path, not int"):
            sonde.serve(3)
        with self.assertRaisesRegex(ValueError, "logdirs"):
            sonde.serve()

    def test_on_a_remote_machine_the_ssh_command_is_printed(self):
        os.environ |= {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22", "USER": "ann"}
        server, printed = self.serve()
        port = re.search(r":(\d+)/", server.url)[1]
        self.assertEqual(server.tunnel, f"ssh -L {port}:127.0.0.1:{port} ann@10.0.0.2")
        self.assertIn(f"Far   {server.tunnel}   run this first", printed)

    def test_a_notebook_shows_the_page_in_a_frame(self):
        runtime = self.folder / "runtime"
        runtime.mkdir()
        (runtime / "jpserver-77.json").write_text(json.dumps({"port": 8888, "secure": False}))
        os.environ |= {"JUPYTER_RUNTIME_DIR": str(runtime), "JPY_PARENT_PID": "77"}
        with FakeKernel() as shown:
            server, printed = self.serve(height=300)
        self.assertEqual(printed, "")
        frame = shown[0]._repr_html_()
        self.assertIn('height="300"', frame)
        # The page has the host name of the notebook, so that it gets its cookie, and lets that notebook embed it.
        self.assertIn(f'<iframe src="{server.url.replace("127.0.0.1", "localhost")}"', frame)
        self.assertTrue(allows(server, "http://localhost:8888"))
        self.assertFalse(allows(server, "http://localhost:9999"))

    def test_a_notebook_on_a_remote_machine_gets_the_ssh_command_too(self):
        os.environ["SSH_CONNECTION"] = "10.0.0.1 50000 10.0.0.2 22"
        with FakeKernel() as shown:
            _, printed = self.serve()
        self.assertIn("ssh -L", printed)
        self.assertEqual(len(shown), 1)

    def test_behind_a_proxy_the_frame_is_a_path_of_the_notebooks_server(self):
        with FakeKernel() as shown:
            server, _ = self.serve(path_prefix="/user/ann/proxy/absolute/{port}", allow_origin="https://hub.example.org")
        port = re.search(r":(\d+)/", server.url)[1]
        self.assertIn(f'src="/user/ann/proxy/absolute/{port}/?token=', shown[0]._repr_html_())
        self.assertTrue(allows(server, "https://hub.example.org", "hub.example.org"))
        self.assertFalse(allows(server, "https://evil.example.org", "hub.example.org"))

    def test_on_a_hub_the_proxy_is_found(self):
        os.environ |= {"JUPYTERHUB_SERVICE_PREFIX": "/user/ann/", "JUPYTERHUB_PUBLIC_URL": "https://hub.example.org/user/ann/"}
        with FakeKernel(), unittest.mock.patch("importlib.util.find_spec", lambda name: name == "jupyter_server_proxy" or None):
            server, _ = self.serve()
        self.assertRegex(server.source, r"^/user/ann/proxy/absolute/\d+/\?token=")
        self.assertTrue(allows(server, "https://hub.example.org", "hub.example.org"))

    def test_a_forked_child_leaves_the_server_alone(self):
        server, _ = self.serve()
        pid = os.fork()
        if pid == 0:
            server.stop()
            os._exit(0)
        os.waitpid(pid, 0)
        self.assertTrue(server.running)


if __name__ == "__main__":
    unittest.main()
