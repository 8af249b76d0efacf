"""Makes the seeds of saved_model, tflite and tensor_bundle from the models in tests/models, which TensorFlow wrote.

A saved_model.pb loses its object graph, which no reader here looks at, and which is most of a small file. Needs
TensorFlow (tests/data/requirements.txt).
"""
import os
import pathlib
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from tensorflow.core.protobuf import saved_model_pb2

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent / "models"


def main():
    for name in ("keras3_cnn", "signatures", "subclassed", "variables_v1"):
        model = saved_model_pb2.SavedModel()
        model.ParseFromString((MODELS / name / "saved_model.pb").read_bytes())
        for graph in model.meta_graphs:
            graph.ClearField("object_graph_def")
            graph.meta_info_def.ClearField("stripped_op_list")
            for function in graph.graph_def.library.function:
                for node in function.node_def:
                    node.ClearField("experimental_debug_info")
        (HERE / "saved_model" / f"{name}.pb").write_bytes(model.SerializeToString(deterministic=True))
        shutil.copy(MODELS / name / "variables" / "variables.index", HERE / "tensor_bundle" / f"{name}.index")
    shutil.copy(MODELS / "frozen_cnn.pb", HERE / "saved_model" / "frozen_cnn.pb")
    for name in ("lite_float", "lite_int8", "lite_signatures"):
        shutil.copy(MODELS / f"{name}.tflite", HERE / "tflite" / f"{name}.tflite")


if __name__ == "__main__":
    main()
