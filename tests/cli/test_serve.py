"""`sonde serve`: what it prints, when it does not start, and how it ends."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest
import urllib.parse

import command
import logs

PATIENCE = 60  # seconds
WITHOUT_PAGE = "sonde: this program was built without the page: only its API is served\n"


class Serving:
    """A server that runs until the end of a `with`."""

    def __init__(self, case, *arguments, **environment):
        clean = {key: value for key, value in case.environment.items() if not key.startswith("SSH_")}
        self.process = subprocess.Popen([command.SONDE, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        cwd=case.folder, env={**clean, **environment}, text=True)
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            if "Ctrl-C" in line:
                break
        else:
            raise RuntimeError(self.process.communicate()[1])
        self.address = re.search(r"http://\S+", "".join(self.said))[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def end_input(self):
        self.process.stdin.close()
        self.process.stdin = None  # communicate() expects an open one

    def ask(self, path, method="GET", body=None, address=None, **fields):
        parts = urllib.parse.urlsplit(address or self.address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
        response = connection.getresponse()
        response.body = response.read()
        connection.close()
        return response

    def json(self, path, **fields):
        return json.loads(self.ask(path, **fields).body)

    def token(self):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.address).query)["token"][0]

    def end(self, number):
        """Its exit code, and what it has said on stderr except the note of a build without the page."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors.replace(WITHOUT_PAGE, "")


def taken_port():
    """A socket that listens, with the next port free as far as one can know."""
    listener = socket.create_server(("127.0.0.1", 0))
    return listener, listener.getsockname()[1]


class Serve(command.Case):
    def setUp(self):
        super().setUp()
        logs.copy_of("torch", self.folder)

    def test_says_what_it_serves_and_where(self):
        with Serving(self, "serve", "torch", "--port", "0") as server:
            self.assertIn("torch", server.said[0])
            self.assertRegex(server.address, r"^http://127\.0\.0\.1:\d+/\?token=[\w-]{32}$")
            self.assertNotIn("ssh", "".join(server.said))
            runs = {run["run"] for run in server.json("/api/runs")["runs"]}
            self.assertEqual(runs, set(logs.event_files(self.path("torch"))))

    def test_ctrl_c_ends_it_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with Serving(self, "serve", "torch", "--port", "0") as server:
                with socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(server.address).port)):
                    self.assertEqual(server.end(number), (0, ""))

    def test_it_ends_with_the_program_that_started_it_if_asked_to(self):
        with Serving(self, "serve", "torch", "--port", "0", "--stop-at-eof") as server:
            self.assertEqual(server.ask("/api/status").status, 200)
            server.end_input()
            self.assertEqual(server.process.wait(PATIENCE), 0)
        with Serving(self, "serve", "torch", "--port", "0") as server:
            server.end_input()  # as with `sonde serve logs &` in a script
            self.assertEqual(server.ask("/api/status").status, 200)

    def test_it_ends_although_answers_are_being_made(self):
        tags = [{"tag": "loss", "runs": sorted(logs.event_files(self.path("torch")))}] * 1000
        body = json.dumps({"groups": tags, "width": 16384}).encode()
        with Serving(self, "serve", "torch", "--port", "0") as server, contextlib.ExitStack() as connections:
            address = ("127.0.0.1", urllib.parse.urlsplit(server.address).port)
            for request in [b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"] * 4 + [
                    b"POST /api/bands HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)] * 8:
                connections.enter_context(socket.create_connection(address)).sendall(request)
            self.assertEqual(server.ask("/api/status").status, 200)
            self.assertEqual(server.end(signal.SIGTERM), (0, ""))

    def test_a_directory_alone_is_served(self):
        with Serving(self, "torch", "--port", "0") as server:
            self.assertEqual(server.ask("/api/status").status, 200)

    def test_the_address_lets_its_user_write(self):
        with Serving(self, "serve", "torch", "--port", "0") as server:
            run = sorted(logs.event_files(self.path("torch")))[0]
            body = json.dumps({"run": run, "note": "baseline"})
            self.assertEqual(server.ask("/api/note", "POST", body).status, 401)
            parts = urllib.parse.urlsplit(server.address)
            taken = server.ask(f"{parts.path}?{parts.query}")
            self.assertEqual((taken.status, taken.headers["Location"]), (303, "./"))
            cookie = taken.headers["Set-Cookie"].split(";")[0]
            self.assertEqual(server.ask("/api/note", "POST", body, Cookie=cookie).status, 200)
            with open(os.path.join(self.path("torch"), run, "note.md")) as file:
                self.assertEqual(file.read().strip(), "baseline")

    def test_a_port_in_use_is_reported_and_the_next_is_offered_or_used(self):
        listener, port = taken_port()
        with listener:
            sentence = self.error("serve", "torch", "--port", str(port))
            self.assertRegex(sentence, rf"port {port} of 127\.0\.0\.1 is in use by another program: the next free one is "
                                       rf"(\d+) \(--port \1\)")
        with Serving(self, "serve", "torch"), Serving(self, "serve", "torch") as second:
            port = urllib.parse.urlsplit(second.address).port
            self.assertEqual(second.json("/api/status")["logs"][0]["directory"], "torch")
            code, errors = second.end(signal.SIGTERM)
            self.assertEqual(code, 0)
            self.assertRegex(errors, rf"\Asonde: port 6006 of 127\.0\.0\.1 is in use by another program, using port "
                                     rf"{port}\n\Z")

    def test_several_directories_are_distinguished(self):
        os.mkdir(self.path("more"))
        logs.copy_of("torch", self.path("more"))
        with Serving(self, "serve", "torch", "--logdir", "more/torch", "--port", "0") as server:
            labels = [log["label"] for log in server.json("/api/status")["logs"]]
            self.assertEqual(labels, ["torch", "torch-2"])

    def test_errors_at_start_are_one_sentence(self):
        with open(self.path("file"), "w") as file:
            file.write("x")
        cases = ((("nowhere",), "'nowhere'"), (("file",), "'file'"), ((), "LOGDIR is missing"),
                 (("torch", "--port", "65536"), "--port is 65536"), (("torch", "--port", "x"), "--port needs a whole number"),
                 (("torch", "--host", "203.0.113.7"), "203.0.113.7"), (("torch", "--token", "a b"), "a token may contain only"),
                 (("torch", "--allow-origin", "example.org"), "'example.org' is not a valid origin"),
                 (("torch", "--path-prefix", "/a b"), "'a b' is not a valid path prefix"))
        for arguments, words in cases:
            self.assertIn(words, self.error("serve", *arguments), arguments)

    def test_a_directory_that_disappears_ends_nothing(self):
        with Serving(self, "serve", "torch", "--port", "0") as server:
            self.assertNotEqual(server.json("/api/runs")["runs"], [])
            shutil.rmtree(self.path("torch"))
            while server.json("/api/runs")["runs"]:
                pass
            problems = []
            while not problems:
                problems = server.json("/api/status")["logs"][0]["problems"]
            self.assertEqual(problems, ["the log directory 'torch' is gone: its runs appear again when it is back"])
            logs.copy_of("torch", self.folder)
            expected = set(logs.event_files(self.path("torch")))
            while {run["run"] for run in server.json("/api/runs")["runs"]} != expected:
                pass
            self.assertEqual(server.json("/api/status")["logs"][0]["problems"], [])

    def test_other_names_and_pages_are_rejected(self):
        with Serving(self, "serve", "torch", "--port", "0") as server:
            self.assertEqual(server.ask("/api/runs", Host="evil.example").status, 403)
            self.assertEqual(server.ask("/api/runs", Origin="https://evil.example").status, 403)
            self.assertEqual(server.ask("/api/runs", Host="localhost:1234").status, 200)

    def test_other_machines_need_the_token(self):
        with Serving(self, "serve", "torch", "--port", "0", "--host", "0.0.0.0", "--token", "open-sesame") as server:
            self.assertTrue(server.address.endswith("/?token=open-sesame"))
            near = f"http://127.0.0.1:{urllib.parse.urlsplit(server.address).port}/"
            for path in ("/", "/api/runs", "/api/events", "/?token=open"):
                self.assertEqual(server.ask(path, address=near).status, 401, path)
            self.assertEqual(server.ask("/api/runs", address=near, Authorization="Bearer open-sesame").status, 200)

    def test_allowed_origins_ask_with_the_token(self):
        origin = "https://board.example"
        with Serving(self, "serve", "torch", "--port", "0", "--allow-origin", origin) as server:
            self.assertEqual(server.ask("/api/runs", Origin=origin).status, 401)
            reply = server.ask("/api/runs", Origin=origin, Authorization=f"Bearer {server.token()}")
            self.assertEqual((reply.status, reply.headers["Access-Control-Allow-Origin"]), (200, origin))
            self.assertIn(f"frame-ancestors 'self' {origin}", reply.headers["Content-Security-Policy"])

    def test_a_path_prefix_is_part_of_every_address(self):
        with Serving(self, "serve", "torch", "--port", "0", "--path-prefix", "boards/mine/") as server:
            self.assertIn("/boards/mine/?token=", server.address)
            self.assertEqual(server.ask("/boards/mine/api/status").status, 200)
            self.assertEqual(server.ask("/api/status").status, 404)

    def test_on_a_remote_machine_the_ssh_tunnel_is_printed(self):
        for connection, words in (("198.51.100.1 50000 192.0.2.7 22", "me@192.0.2.7 "),
                                  ("198.51.100.1 50000 192.0.2.7 2222", "-p 2222 me@192.0.2.7 ")):
            with Serving(self, "serve", "torch", "--port", "0", SSH_CONNECTION=connection, USER="me") as server:
                port = urllib.parse.urlsplit(server.address).port
                self.assertIn(f"ssh -L {port}:127.0.0.1:{port} {words}", "".join(server.said))

    def test_the_demo_ends_by_serving(self):
        with Serving(self, "demo", "--steps", "50", "--dir", "demo") as server:
            runs = []
            while not runs or not all(run["read"] for run in runs):
                runs = server.json("/api/runs")["runs"]
            self.assertEqual([run["run"] for run in runs], ["test", "train"])
            for run in runs:
                self.assertEqual(run["hparams"]["optimizer"], "adam", run["run"])
            self.assertEqual(server.end(signal.SIGTERM)[0], 0)


if __name__ == "__main__":
    unittest.main()
