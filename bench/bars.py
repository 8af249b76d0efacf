"""The performance targets of recording and reading, and their values in the results of one run."""

import dataclasses

from tables import number


@dataclasses.dataclass
class Bar:
    what: str
    limit: str
    measured: str
    ratio: float  # above 1: better than the bar
    met: bool

    def row(self):
        return [self.what, self.limit, self.measured, f"{self.ratio:.2f}", "yes" if self.met else "**no**"]


def at_most(what, bar, measured, unit):
    return Bar(what, f"<= {bar:g} {unit}", f"{number(measured)} {unit}", bar / measured, measured <= bar)


def at_least(what, bar, measured, unit):
    return Bar(what, f">= {bar:g} {unit}", f"{number(measured)} {unit}", measured / bar, measured >= bar)


def reading_bars(ours):
    server = "TensorBoard's data server with `scalars=all`"
    return [
        at_least(f"opening 5M points of 10 runs, against {server}", 12,
                 ours("few_runs/data_server/time") / ours("few_runs/time"), "times"),
        at_most("memory for them, a point", 10, ours("few_runs/bytes_a_point"), "bytes"),
        at_least(f"opening 5M points of 1,000 runs, against {server}", 10,
                 ours("many_runs/data_server/time") / ours("many_runs/time"), "times"),
        at_least("opening 5M points again, unchanged, against the first time", 5,
                 ours("few_runs/time") / ours("again/time"), "times"),
        at_most("memory for a log of 20,000 images and 20,000 histograms", 100, ours("media/memory"), "MB"),
        at_most("drawing any part of 10M points 1000 pixels wide", 10,
                max(ours(f"draw/{part}") for part in ("first", "all", "part")), "ms"),
        at_least("opening statistics of 500 tensors x 10,000 steps, the first time", 500,
                 ours("statistics/open"), "MB/s"),
        at_most("memory and cache for them, a tensor and step", 40, ours("statistics/in_all"), "bytes"),
        at_most("the part of it that is resident", 8, ours("statistics/resident"), "bytes"),
        at_most("a map of 500 tensors x 1,000 pixels over all steps", 50, ours("statistics/map"), "ms"),
        at_most("the same of a tenth of the steps, the slowest of 10", 20, ours("statistics/part"), "ms"),
        at_most("a new point in a followed log of 1,000 runs, the latest of 200", 200, ours("follow/latest_arrival"), "ms"),
        at_least("`sonde export --format csv` of 5M points, against tbparse to a DataFrame", 100,
                 ours("export/tbparse/scaled_time") / ours("export/time"), "times"),
    ]


def bars(results):
    def ours(question, name):
        return results[question][name][0]

    def peer(name):
        return results["peers"][name][0]

    def rate(module, name):
        return results[module][name]["bytes"] / 1e9

    def seconds(module, name):
        return results[module][name]["seconds"]

    wide = results["simd"] == "AVX-512"
    dram, cache = 16 << 20, 64 << 10
    memcpy_1m = ours("hot_path", "memcpy_1m/p50")
    backend_1m = ours("throughput", "histogram_1m/backend")
    # The worst case for both: noise.
    image_peer = "torch" if "torch/scalar" in results["peers"] else "tensorboardX"
    scalar_peer = min(peer("tensorboardX/scalar"), peer("tensorboardX/scalar_burst"))
    return [
        at_most("`Scalar::record`, median", 40, ours("hot_path", "scalar/p50"), "ns"),
        at_most("`Scalar::record`, p99.9, paced", 1000, ours("hot_path", "scalar/p99.9"), "ns"),
        at_least("`Scalar::record` against tensorboardX `add_scalar`", 300,
                 scalar_peer * 1e3 / ours("hot_path", "scalar/p50"), "times"),
        at_least("sustained scalars to disk, one thread", 3, ours("throughput", "scalars_1_threads"), "M/s"),
        at_least("sustained scalars to disk, two threads", 3, ours("throughput", "scalars_2_threads"), "M/s"),
        at_most("`histogram` of 1M f32, caller, against memcpy", 1.3,
                ours("hot_path", "histogram_1m/p50") / memcpy_1m, "times"),
        at_most("the same, frozen: nothing is copied", 0.05,
                ours("hot_path", "histogram_1m_frozen/p50") / memcpy_1m, "times"),
        at_most("`histogram` of 1M f32, backend", 1.5, backend_1m, "ms"),
        at_least("the same against tensorboardX `add_histogram`", 8,
                 peer("tensorboardX/histogram_1m") / backend_1m, "times"),
        at_least("statistics of 16M f32 from DRAM against memcpy", 0.6 if wide else 0.4,
                 rate("stats", f"BM_stats/normal/{dram}") / rate("stats", f"BM_memcpy/{dram}"), "times"),
        at_least("statistics in cache", 8 if wide else 6, rate("stats", f"BM_stats/normal/{cache}"), "GB/s"),
        at_least("statistics with histogram, 16M f32", 2.5, rate("stats", f"BM_histogram/normal/{dram}"), "GB/s"),
        at_least("the same on all-equal data", 2.5, rate("stats", f"BM_histogram/equal/{dram}"), "GB/s"),
        at_least("statistics of 16M f32 against numpy", 4,
                 peer("numpy/statistics_16m") * 1e-3 / seconds("stats", f"BM_stats/normal/{dram}"), "times"),
        at_least("statistics and histograms of 16 MiB tensors, 2 threads against 1", 1.7,
                 ours("throughput", "large_2_threads") / ours("throughput", "large_1_thread"), "times"),
        at_least(f"image 256x256 RGB, encode, against {image_peer} `add_image`", 30,
                 peer(f"{image_peer}/image_256_noise") * 1e-3 / seconds("formats", "BM_PngEncodeNoise/256"), "times"),
        at_most("500 probes, none selected, a probe and step", 20, ours("watching", "unselected"), "ns"),
        at_most("flight ring, whole tensors every step, caller, against memcpy", 1.3,
                ours("watching", "flight/hand_off") / ours("watching", "flight/memcpy"), "times"),
        at_most("allocations of the caller for it, a step", 0.1, max(0.001, ours("watching", "flight/allocations")), ""),
        at_most("all 33 tensors of the demo at every step, a core to spare: longer steps", 3,
                max(0.001, ours("training", "spare_core/longer")), "%"),
        at_most("the same, all cores busy: longer steps", 12, max(0.001, ours("training", "busy_cores/longer")), "%"),
        at_most("100 tensors of 64 KiB a step with statistics and histograms, ring of 64 MiB, busy thread, against memcpy",
                1.3, ours("watching", "busy/hand_off") / ours("watching", "busy/memcpy"), "times"),
        at_most("the smallest process that records: open, one scalar, close", 10, ours("smallest", "time"), "ms"),
        at_most("resident memory of it", 8, ours("smallest", "resident"), "MB"),
        at_most("idle backend", 0.5, ours("idle", "idle"), "% of a core"),
        at_most("memory at 64 MiB, and 1 for the files' buffers, while producing 10 GiB", 64 + 1,
                ours("memory", "wait/peak"), "MiB"),
        at_most("statistics file, a tensor and step", 100, ours("throughput", "stats_bytes"), "bytes"),
        *reading_bars(lambda name: ours("reading", name)),
        at_least("`sonde diff` of two dumps of 5 passes of 84 MB, bytes of one dump", 1, ours("compare", "speed"), "GB/s"),
        at_least("the same, against Polygraphy's comparison", 20, ours("compare", "polygraphy/ratio"), "times"),
        at_least("all layers of 40 convolutions, 5 passes of 84 MB, saved, against `polygraphy run --save-outputs`", 10,
                 ours("inspect", "polygraphy/ratio"), "times"),
        at_most("what that takes on disk, against the raw bytes", 1.2, ours("inspect", "all_layers/bytes"), "times"),
        at_most("`sonde inspect` of one layer of a 100 MB model, cold, against OpenVINO's own load and one inference", 1.5,
                ours("inspect", "one_layer/ratio"), "times"),
        at_most("`sonde inspect --list` of a 100 MB model", 0.3, ours("inspect", "list/time"), "s"),
    ]
