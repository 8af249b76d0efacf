"""The graph of a torch module, as torch.jit.trace sees it: a node for every value, in the scope of its module."""
import contextlib
from typing import Any, Iterator


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    training = getattr(model, "training", None)
    if training is None:
        yield
        return
    model.train(False)
    try:
        yield
    finally:
        model.train(training)


def _type_name(module: Any) -> str:
    return getattr(module, "_name", None) or getattr(module, "original_name", "Module")


def _shape(value: Any) -> list[list[int]]:
    sizes = value.type().sizes() if value.isCompleteTensor() else None
    return [] if sizes is None or len(sizes) > 8 else [list(sizes)]


def trace(model: Any, inputs: Any, verbose: bool, strict: bool) -> list[dict[str, Any]]:
    """The nodes of the model, run in evaluation mode on the inputs."""
    import torch
    with _evaluating(model):
        traced = torch.jit.trace(model, inputs, strict=strict)
    graph = traced.graph
    torch._C._jit_pass_inline(graph)
    if verbose:
        print(graph)

    root = _type_name(traced)
    labels = {path: f"{_type_name(module)}[{path.rpartition('.')[2]}]"
              for path, module in traced.named_modules(prefix="__module")}

    def scope_of(path: str) -> str:
        parts = [labels.get(part, part.rpartition(".")[2]) for part in path.split("/") if part]
        return "/".join([root, *parts])

    names: dict[str, str] = {}  # of values, in the scope where they are made
    nodes: list[dict[str, Any]] = []
    for value in graph.inputs():
        if value.type().kind() == "ClassType" or not value.uses():
            continue
        names[value.debugName()] = f"input/{value.debugName()}"
        nodes.append({"name": names[value.debugName()], "op": "IO Node", "shapes": _shape(value)})

    modules: dict[str, str] = {}  # values that stand for modules, and their paths
    for node in graph.nodes():
        path = node.scopeName()
        if node.kind() == "prim::GetAttr":
            name, owner = node.s("name"), node.input().debugName()
            above = modules.get(owner)
            path = f"__module.{name}" if above is None else f"{above}/{above.rpartition('/')[2]}.{name}"
            modules[node.output().debugName()] = path
            if node.output().type().kind() == "ClassType":
                continue
        attributes = {key: getattr(node, node.kindOf(key))(key) for key in node.attributeNames()}
        given = [names[value.debugName()] for value in node.inputs() if value.debugName() in names]
        for value in node.outputs():
            names[value.debugName()] = f"{scope_of(path)}/{value.debugName()}"
            nodes.append({"name": names[value.debugName()], "op": node.kind(), "inputs": given, "shapes": _shape(value),
                          "attributes": {"attr": str(attributes).replace("'", " ")}})
    for number, value in enumerate(graph.outputs(), start=1):
        given = [names[value.debugName()]] if value.debugName() in names else []
        nodes.append({"name": f"output/output.{number}", "op": "IO Node", "inputs": given, "shapes": _shape(value)})
    return nodes
