"""The tables of bench/results.md, one a question."""

HOT_PATH = [
    ("scalar", "`Scalar::record`"),
    ("scalar_two_threads", "the same, when another thread records too"),
    ("scalar_by_name", "`Recorder::scalar`, by name"),
    ("probe_wanted", "`Probe::wanted`, not due"),
    ("step", "a step, begun and ended"),
    ("step_with_probe", "the same with `Probe::record` of 4096 f32"),
]
TENSORS = [
    ("memcpy_1m", "memcpy of 1M f32 into warm memory"),
    ("histogram_1m", "`Recorder::histogram` of 1M f32"),
    ("histogram_1m_frozen", "the same, frozen"),
]
THROUGHPUT = [
    ("scalars_1_threads", "scalars to disk, one thread"),
    ("scalars_1_threads/backend", "CPU of the backend a scalar"),
    ("scalars_2_threads", "scalars to disk, two threads"),
    ("scalars_2_threads/backend", "CPU of the backend a scalar"),
    ("histogram_1m/backend", "histogram of 1M normal f32, CPU of the backend"),
    ("histogram_1m/latency", "the same, from the call until it is in the file"),
    ("histogram_1m_equal/backend", "histogram of 1M equal f32, CPU of the backend"),
    ("image_256_noise/backend", "image 256x256 RGB of noise, CPU of the backend"),
    ("image_256_noise/latency", "the same, from the call until it is in the file"),
    ("image_256_smooth/backend", "smooth image 256x256 RGB, CPU of the backend"),
    ("large_1_thread", "statistics and histograms of 16 MiB tensors, one thread"),
    ("large_2_threads", "the same, two threads"),
    ("stats_bytes", "statistics file, a tensor and step"),
    ("stats_histogram_bytes", "the same with histograms of 4096 normal f32"),
]
WATCHING = [
    ("unselected", "`Probe::wanted` of 500 probes that no watch selects, a probe"),
    ("flight/memcpy", "memcpy of 4 tensors of 1 MiB into warm memory"),
    ("flight/hand_off", "`Probe::record` of them, for the flight ring"),
    ("flight/allocations", "allocations of the caller for it"),
    ("flight/backend_allocations", "allocations of the backend for it"),
    ("flight/backend", "the backend: statistics, copy and checksum, of processor time"),
    ("busy/memcpy", "memcpy of 100 tensors of 64 KiB into warm memory, by a thread that is always busy"),
    ("busy/hand_off", "`Probe::record` of them: statistics, histograms and the flight ring"),
    ("busy/hand_off_p90", "the same, p90 of the steps"),
    ("outrun/memcpy", "memcpy of the same, in steps so short that the backend falls behind"),
    ("outrun/hand_off", "`Probe::record` of them, into memory that was not used before"),
    ("outrun/hand_off_p90", "the same, p90 of the steps"),
]
SMALLEST = [
    ("time", "open, one scalar, close: from the start of the process to its end"),
    ("floor/time", "a process that only links the library"),
    ("resident", "resident memory, at most"),
    ("floor/resident", "a process that only links the library"),
]
TRAINING = [
    ("spare_core/step", "a step of the demo's training, not recorded"),
    ("spare_core/tensors", "tensors recorded"),
    ("spare_core/longer", "how much longer it is with statistics and histograms of all of them, a core to spare"),
    ("spare_core/longer_mean", "the same for the mean step, which counts every delay"),
    ("spare_core/only_read", "how much longer it is when another thread does no more than read every value once"),
    ("distance", "the way of a cache line to the other core and back"),
    ("busy_cores/longer", "how much longer it is with statistics and histograms, all cores busy"),
    ("busy_cores/longer_mean", "the same for the mean step"),
]
IDLE = [
    ("idle", "CPU of the backend"),
    ("floor", "CPU of a thread that only sleeps, 10 ms at a time"),
]
MEMORY = [
    ("first_recorder", "the first recorder of a process: code, tables, ring"),
    ("wait/peak", "peak growth, waiting for room"),
    ("wait/time", "time for 10 GiB"),
    ("drop/peak", "peak growth, dropping"),
    ("drop/dropped", "dropped, all counted"),
]
READING = [
    ("few_runs/time", "5M points, 10 runs x 25 tags x 20,000 steps, no cache: everything can be asked for"),
    ("few_runs/bytes_a_point", "memory for it, a point"),
    ("few_runs/data_server/time", "the same, TensorBoard's data server"),
    ("few_runs/data_server/memory", "memory of the data server"),
    ("many_runs/time", "5M points, 1,000 runs x 10 tags x 500 steps, no cache"),
    ("many_runs/bytes_a_point", "memory for it, a point"),
    ("many_runs/data_server/time", "the same, TensorBoard's data server"),
    ("many_runs/data_server/memory", "memory of the data server"),
    ("again/time", "5M points of 10 runs, unchanged since they were read before"),
    ("media/time", "20,000 images and 20,000 histograms, no cache"),
    ("media/memory", "memory for it"),
    ("draw/first", "10M points of one series drawn 1000 pixels wide, the first time"),
    ("draw/all", "the same, later"),
    ("draw/part", "any part of them, seen for the first time"),
    ("follow/idle", "following 1,000 runs while nothing happens"),
    ("follow/arrival", "a new point, from the file to the index"),
    ("follow/latest_arrival", "the latest of 200"),
    ("export/time", "`sonde export --format csv` of 5M points, no cache"),
    ("export/tbparse/scaled_time", "tbparse to a DataFrame: 100,000 points, times 50"),
]


def markdown_table(head, rows):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(head), line(["---"] * len(head))] + [line(row) for row in rows]


def number(value):
    """Three digits that count, never an exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def nanoseconds(value):
    for unit, scale in (("ms", 1e6), ("us", 1e3)):
        if value >= scale:
            return f"{number(value / scale)} {unit}"
    return f"{number(value)} ns"


def by_name(name):
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in name.split("/")]


def plain(results, rows):
    return [[label, f"{number(results[name][0])} {results[name][1]}"] for name, label in rows if name in results]


def google(results):
    def rate(found):
        if found["bytes"]:
            return f"{found['bytes'] / 1e9:.3g} GB/s"
        return f"{found['items'] / 1e6:.3g} M/s" if found["items"] else ""

    return [[f"`{name}`", nanoseconds(results[name]["seconds"] * 1e9), rate(results[name])]
            for name in sorted(results, key=by_name)]


def tables(results):
    hot = results["hot_path"]
    clock = hot["clock"][0]

    def time(name):
        return nanoseconds(hot[name][0]) if name in hot else ""

    yield ("What a recording thread pays",
           f"Paced calls, each timed alone; reading the clock took {clock:.0f} ns and is subtracted. In a burst, one "
           f"call after the other, `Scalar::record` takes {hot['scalar/burst'][0]:.1f} ns.",
           ["call", "p50", "p99", "p99.9"],
           [[label] + [time(f"{name}/{p}") for p in ("p50", "p99", "p99.9")] for name, label in HOT_PATH])
    yield ("What it pays for a tensor",
           f"In turns, every few milliseconds. The very first histogram took {time('histogram_1m/first')}: it maps the "
           "memory that later ones use again.",
           ["call", "p50", "p99"], [[label, time(f"{name}/p50"), time(f"{name}/p99")] for name, label in TENSORS])
    yield ("What the backend gets through", "Nothing was dropped, and everything was read back.", ["what", "measured"],
           plain(results["throughput"], THROUGHPUT))
    yield ("What it costs to watch everything",
           "Probes that are not selected, and tensors that go into the flight ring whole, at a pace that the backend keeps "
           "up with.", ["what", "measured"], plain(results["watching"], WATCHING))
    yield ("How much longer training takes",
           "The network of `sonde demo`; stretches with and without recording take turns.", ["what", "measured"],
           plain(results["training"], TRAINING))
    yield ("What the smallest process that records takes", "Started 60 times, in turns.", ["what", "measured"],
           plain(results["smallest"], SMALLEST))
    yield ("What an idle recorder costs", "Open, nothing recorded for 5 s.", ["what", "measured"],
           plain(results["idle"], IDLE))
    yield ("Whether memory stays within the budget", "10 GiB of tensors of many sizes against 64 MiB.",
           ["what", "measured"], plain(results["memory"], MEMORY))
    yield ("How fast logs are read",
           "In turns with the peers, files in the page cache, medians of three. Memory is what is anonymous. The data "
           "server's time is from its start until it rests, and then it lists every tag with its last step. tbparse "
           "reads a log of a fiftieth of the size, and its time is scaled: the whole log takes it minutes.", ["what", "measured"],
           plain(results["reading"], READING))
    yield ("What the peers take", "CPU time of the caller's thread, medians.", ["what", "measured"],
           plain(results["peers"], [(name, f"`{name}`") for name in results["peers"]]))
    yield ("How fast statistics are", "Google Benchmark, CPU time, medians of five; the number is how many values.",
           ["benchmark", "time", "rate"], google(results["stats"]))
    yield ("How fast formats are", "Google Benchmark, CPU time, medians of five.", ["benchmark", "time", "rate"],
           google(results["formats"]))
