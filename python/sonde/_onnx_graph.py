"""The graph of an ONNX file: inputs, nodes and what leads from one to the other."""
import os
from typing import Any


def nodes(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    try:
        import onnx
    except ImportError:
        raise ImportError("add_onnx_graph needs onnx: pip install onnx") from None
    graph = onnx.load(os.fspath(path)).graph
    found: list[dict[str, Any]] = []
    for value in graph.input:
        sizes = [axis.dim_value or -1 for axis in value.type.tensor_type.shape.dim]
        found.append({"name": value.name, "op": "Variable", "shapes": [sizes] if len(sizes) <= 8 else []})
    known = {node["name"] for node in found}
    known.update(name for node in graph.node for name in node.output if name)
    for node in graph.node:
        attributes = "; ".join(f"{each.name} = {onnx.helper.get_attribute_value(each)}" for each in node.attribute)
        for name in filter(None, node.output):
            found.append({"name": name, "op": node.op_type, "inputs": [each for each in node.input if each in known],
                          "attributes": {"parameters": attributes}})
    return found
