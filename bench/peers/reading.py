"""What others take to read a log directory of make_log.py until everything in it can be asked for.

  reading.py data_server LOGDIR TAGS STEPS   TensorBoard's own data server, in Rust, told to keep every scalar
  reading.py tbparse LOGDIR POINTS           tbparse, to a DataFrame

TAGS is the number of tags of all runs, POINTS the number of points of all tags. The data server is not asked while it
loads, since answers would slow it down: its time is that from its start until it no longer uses the processor, and then
it must list every tag with its last step. It does not check the checksums of events.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

from peer import report

POLL = 0.005  # seconds between two polls of the data server
QUIET = 0.2  # seconds without a tick of the processor after which it has probably loaded everything
LIMIT = 300  # seconds after which it never will


def wait_for_port(path, server):
    while not path.exists() or not path.read_text().endswith("\n"):
        if server.poll() is not None:
            sys.exit(f"the data server ended with {server.returncode}")
        time.sleep(POLL)
    return path.read_text().strip()


def memory_of(process, name):
    """A field of its status, in MB."""
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024 / 1e6


def cpu_ticks(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])  # user and system


def wait_until_quiet(process):
    """When it used the processor last."""
    ticks, last = cpu_ticks(process), time.perf_counter()
    while time.perf_counter() - last < QUIET:
        time.sleep(POLL)
        if (now := cpu_ticks(process)) != ticks:
            ticks, last = now, time.perf_counter()
    return last


def data_server(logdir, tags, steps):
    import grpc
    import tensorboard_data_server
    from tensorboard.data.proto import data_provider_pb2, data_provider_pb2_grpc

    scalars = data_provider_pb2.PluginFilter(plugin_name="scalars")

    def loaded(listed):
        found = [tag for run in listed.runs for tag in run.tags]
        return len(found) == tags and all(tag.metadata.max_step == steps - 1 for tag in found)

    with tempfile.TemporaryDirectory() as folder:
        port_file = pathlib.Path(folder, "port")
        begin = time.perf_counter()
        command = [tensorboard_data_server.server_binary(), f"--logdir={logdir}", "--reload=once", "--port=0",
                   f"--port-file={port_file}", "--samples-per-plugin=scalars=all"]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            address = f"localhost:{wait_for_port(port_file, server)}"
            channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", 1 << 30)])
            stub = data_provider_pb2_grpc.TensorBoardDataProviderStub(channel)
            request = data_provider_pb2.ListScalarsRequest(plugin_filter=scalars)
            end = wait_until_quiet(server)
            while not loaded(listed := stub.ListScalars(request, wait_for_ready=True)):
                if time.perf_counter() - begin > LIMIT:
                    sys.exit("the data server did not load everything")
                end = wait_until_quiet(server)
            report("data_server/time", end - begin, "s")
            report("data_server/memory", memory_of(server, "RssAnon:"), "MB")

            first = data_provider_pb2.RunTagFilter(
                runs=data_provider_pb2.RunFilter(names=[listed.runs[0].run_name]),
                tags=data_provider_pb2.TagFilter(names=[listed.runs[0].tags[0].tag_name]))
            read = stub.ReadScalars(data_provider_pb2.ReadScalarsRequest(
                plugin_filter=scalars, run_tag_filter=first,
                downsample=data_provider_pb2.Downsample(num_points=steps + 1)))
            if len(read.runs[0].tags[0].data.step) != steps:
                sys.exit("wrong answer: the data server did not keep every point")
        finally:
            server.terminate()
            server.wait()


def tbparse(logdir, points):
    from tbparse import SummaryReader

    begin = time.perf_counter()
    frame = SummaryReader(logdir).scalars
    report("tbparse/time", time.perf_counter() - begin, "s")
    if len(frame) != points:
        sys.exit(f"wrong answer: tbparse found {len(frame)} of {points} points")


def main():
    peer, logdir, *sizes = sys.argv[1:]
    {"data_server": data_server, "tbparse": tbparse}[peer](logdir, *map(int, sizes))


if __name__ == "__main__":
    main()
