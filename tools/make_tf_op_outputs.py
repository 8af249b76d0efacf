#!/usr/bin/env python3
"""Makes src/formats/tf_op_outputs.cc: the outputs of TensorFlow's operations, from its own definitions of them.

    tools/make_tf_op_outputs.py > src/formats/tf_op_outputs.cc       with a Python that has tensorflow-cpu 2.21

Operations of training, input pipelines, accelerators and debugging are left out, and so are those that have one output
of the type that attribute `T` names, which is what a reader assumes of an operation that it does not know.
"""
import os
import re

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

LEFT_OUT = re.compile(
    "Dataset|TPU|Tpu|Iterator|Experimental|Grad|Cudnn|Nccl|Collective|Summary|Queue|Reader|Barrier|Stage|Accumulator"
    "|Boosted|Mkl|^_|Apply|Forest|KMC|^Stack|Debug|Fact|Rpc|Save|SQL|Assert|Print|^Xla|^Risc|Sdca|Foo|Struct|Test"
    "|^Quantized|^Uniform[DQR]|SparseCore|Dedup|^Map|OrderedMap|Infeed|Outfeed|SparseMatrix|CSR|RefOutput|Outputs$|Stats"
    "|Anonymous|Jpeg|Png|Gif|Bmp|Wav|Jxl|WebP|Deadline|Mutex|OutputInt|OutputFloat|OutputString|Input|OutDefault|^N[A-Z]|^Rng"
    "|Deserialize|Serialize|FromTensorsMap|ToTensorsMap|^Decode|^Encode|Mutable|^Hash|Shard|Matching|File|File|Nodes"
    "|CandidateSampler|Skipgram|Attr$|Restrict|Prelinearize|Minibatch|DrawBounding|Csv|Py[Ff]unc|Remote|Placement|Tensor[AM]"
    "|Composite|Variant|Send|Recv|Host|Kernel|Device|Dtype|RequestedOutput|Batch[A-Z]\\w+V?2?$|Polymorphic|ListOutput"
    "|TypeList|Stochastic|Timestamp|Dummy|Seed|IfInit|Custom|Copy|Neighbors|AudioSpec|Mfcc|FakeParam|Rewrite|Resource[A-FH-Z]"
    "|^Int|^Float|Session|Worker|PoolHandle|Window|Options|Optional|GetElement|pressElement|Heartbeat|Enqueue|Dequeue|Consume|Graph|Wait|Symbolic|Tracking|Annotat|Debug|Simple|^[A-Z]$|Set[A-Z]?\\w*Operation")
KEPT = {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "BatchMatMulV3", "BatchToSpaceND", "HashTableV2",
        "MapDefun", "RestoreV2", "ResourceGather", "ResourceGatherNd", "NonMaxSuppression", "NonMaxSuppressionV2",
        "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5", "TensorArrayV3", "TensorArrayReadV3",
        "TensorArrayGatherV3", "TensorArrayConcatV3", "TensorArraySizeV3", "TensorArrayWriteV3", "TensorArrayScatterV3",
        "QuantizeV2", "VariableShape"}


def type_text(op, argument):
    if argument.type:
        return str(argument.type)
    if not argument.type_attr:
        return ""
    attribute = next(a for a in op.attr if a.name == argument.type_attr)
    default = f"={attribute.default_value.type}" if attribute.HasField("default_value") else ""
    return argument.type_attr + default


def output_text(op, argument):
    if argument.type_list_attr:
        return f"{argument.name}:@{argument.type_list_attr}"
    count = f"*{argument.number_attr}" if argument.number_attr else ""
    return f"{argument.name}:{type_text(op, argument)}{count}"


def main():
    definitions = op_def_pb2.OpList()
    definitions.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    print('// Made by tools/make_tf_op_outputs.py from the definitions of TensorFlow 2.21.\n'
          '#include "formats/tf_op_outputs.h"\n\nnamespace sonde::formats::tf {\n\n'
          '// clang-format off\nstd::span<const OpOutputs> op_outputs() noexcept {\n  static constexpr OpOutputs kTable[] = {')
    for op in sorted(definitions.op, key=lambda op: op.name):
        text = " ".join(output_text(op, argument) for argument in op.output_arg)
        left_out = LEFT_OUT.search(op.name) and op.name not in KEPT
        if left_out or re.fullmatch(r"\w+:T", text) or not op.output_arg:
            continue
        print(f'    {{"{op.name}", "{text}"}},')
    print('  };\n  return kTable;\n}\n// clang-format on\n\n}  // namespace sonde::formats::tf')


if __name__ == "__main__":
    main()
