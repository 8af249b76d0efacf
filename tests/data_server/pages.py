"""Everything that the pages of TensorBoard ask its web server for, as one dictionary that can be compared with another:
{(page, run, tag, ...): answer}."""

import json
import urllib.parse


def runs(server):
    yield ("runs",), sorted(server.get("/data/runs"))
    listing = server.get("/data/plugins_listing")
    yield ("pages",), sorted(plugin for plugin, about in listing.items() if about["enabled"])


def series_of(page):
    """Pages with a list of tags, and one answer for each of them."""
    def ask(server):
        tags = server.get(f"/data/plugin/{page}/tags")
        yield (page, "tags"), {run: names for run, names in tags.items() if names}
        for run, names in tags.items():
            for tag in names:
                yield (page, run, tag), server.get(f"/data/plugin/{page}/{page}", run=run, tag=tag)
    return ask


def blobs_of(page, file):
    """Pages whose answers name files, which are fetched by a key that means something only to the server."""
    def ask(server):
        tags = server.get(f"/data/plugin/{page}/tags")
        yield (page, "tags"), {run: names for run, names in tags.items() if names}
        for run, names in tags.items():
            for tag, about in names.items():
                for sample in range(about["samples"]):
                    answer = server.get(f"/data/plugin/{page}/{page}", run=run, tag=tag, sample=sample)
                    for one in answer:
                        query = one.pop("query")
                        one["file"] = server.raw(f"/data/plugin/{page}/{file}?{query}")
                    yield (page, run, tag, sample), answer
    return ask


def mesh(server):
    tags = server.get("/data/plugin/mesh/tags")
    yield ("mesh", "tags"), {run: names for run, names in tags.items() if names}
    for run, names in tags.items():
        for name, about in names.items():
            for sample in range(about["samples"]):
                meshes = server.get("/data/plugin/mesh/meshes", run=run, tag=name, sample=sample)
                yield ("mesh", run, name, sample), meshes
                for one in meshes:
                    part = {1: "VERTEX", 2: "FACE", 3: "COLOR"}[one["content_type"]]
                    yield ("mesh", run, name, sample, part, one["step"]), server.raw(
                        "/data/plugin/mesh/data", run=run, tag=name, sample=sample, content_type=part,
                        step=one["step"])


def graphs(server):
    info = server.get("/data/plugin/graphs/info")
    yield ("graphs", "info"), info
    for run, about in info.items():
        if about["run_graph"]:
            yield ("graphs", run), server.raw("/data/plugin/graphs/graph", run=run, conceptual="false")
        for tag, has in about["tags"].items():
            if has["op_graph"]:
                yield ("graphs", run, tag), server.raw("/data/plugin/graphs/graph", run=run, tag=tag, conceptual="false")
            if has["conceptual_graph"]:
                yield ("graphs", run, tag, "model"), server.raw("/data/plugin/graphs/graph", run=run, tag=tag,
                                                                conceptual="true")
            if has["profile"]:
                yield ("graphs", run, tag, "profile"), server.raw("/data/plugin/graphs/run_metadata", run=run, tag=tag)


def hparams(server):
    experiment = server.get("/data/plugin/hparams/experiment", body={"includeMetrics": True})
    yield ("hparams", "experiment"), experiment
    request = {"startIndex": 0, "sliceSize": 100, "includeMetrics": True, "colParams": [],
               "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]}
    groups = server.get("/data/plugin/hparams/session_groups", body=request).get("sessionGroups", [])
    for group in groups:
        yield ("hparams", "group", group["name"]), group


def custom_scalars(server):
    yield ("custom_scalars", "layout"), server.get("/data/plugin/custom_scalars/layout")
    for run in server.get("/data/runs"):
        yield ("custom_scalars", run), server.get("/data/plugin/custom_scalars/scalars", run=run, tag="loss.*|group.*")


def timeseries(server):
    tags = server.get("/data/plugin/timeseries/tags")
    yield ("timeseries", "tags"), tags
    requests = [{"plugin": kind, "tag": tag, "run": run}
                for kind in ("scalars", "histograms") for run, names in tags[kind]["runTagInfo"].items() for tag in names]
    requests += [{"plugin": "images", "tag": tag, "run": run, "sample": sample}
                 for tag, by_run in tags["images"]["tagRunSampledInfo"].items()
                 for run, about in by_run.items() for sample in range(about["maxSamplesPerStep"])]
    form = urllib.parse.urlencode
    for request in requests:
        (answer,) = server.get("/data/plugin/timeseries/timeSeries?" + form({"requests": json.dumps([request])}))
        for series in answer["runToSeries"].values():
            for datum in series if request["plugin"] == "images" else ():
                datum["file"] = server.raw("/data/plugin/timeseries/imageData", imageId=datum.pop("imageId"))
        yield ("timeseries", request["plugin"], request["run"], request["tag"], request.get("sample")), answer


PAGES = {"runs": runs, **{page: series_of(page) for page in ("scalars", "histograms", "distributions", "text",
                                                            "pr_curves")},
         "images": blobs_of("images", "individualImage"), "audio": blobs_of("audio", "individualAudio"),
         "mesh": mesh, "graphs": graphs, "hparams": hparams, "custom_scalars": custom_scalars,
         "timeseries": timeseries}
