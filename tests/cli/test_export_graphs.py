"""sonde export --format pbtxt: protobuf's own parser makes the same GraphDef of the text as of the recorded bytes."""

import math
import pathlib
import random
import struct
import unittest

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import graph_pb2, types_pb2

import logs
from command import Case

INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-2**31, 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-2**63, 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_FIXED64: (0, 2**64 - 1),
}
TEXTS = ("", "dense_1/kernel:0", "\"quoted\" 'and' \\back\\slash", "line\nend\r\ttab\0nul\x7f", "größe \u2192 \U0001f4a1", "7\x017")
BYTES = (b"", bytes(range(256)), b"\xff\xfe", b"\\\"\n", b"???/")
REALS = (0.0, -0.0, 0.1, -1.5e-7, 1e30, math.inf, -math.inf)


def value_of(field, chance):
    kind = field.type
    if kind in INTEGERS:
        least, most = INTEGERS[kind]
        return chance.choice((0, 1, 42, least, most, chance.randint(least, most)))
    if kind == FieldDescriptor.TYPE_BOOL:
        return chance.random() < 0.5
    if kind == FieldDescriptor.TYPE_FLOAT:
        return chance.choice((*REALS, struct.unpack("<f", struct.pack("<I", chance.randrange(0x7f800000)))[0]))
    if kind == FieldDescriptor.TYPE_DOUBLE:
        return chance.choice((*REALS, 1e300, struct.unpack("<d", struct.pack("<Q", chance.randrange(0x7ff << 52)))[0]))
    if kind == FieldDescriptor.TYPE_ENUM:
        return chance.choice([value.number for value in field.enum_type.values] + [9999, -1])  # some have no name
    return chance.choice(TEXTS if kind == FieldDescriptor.TYPE_STRING else BYTES)


def is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def fill(message, chance, depth=0):
    """Gives most fields of a message values, whatever fields its definition has."""
    chosen = {group.name: chance.choice(group.fields).name for group in message.DESCRIPTOR.oneofs}
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof is not None:
            if field.name != chosen[field.containing_oneof.name] or depth > 8:
                continue
        elif chance.random() < 0.25 + 0.07 * depth:
            continue
        if is_map(field):
            key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            for _ in range(chance.randrange(3)):
                place = getattr(message, field.name)
                if value.message_type is not None:
                    fill(place[value_of(key, chance)], chance, depth + 1)
                else:
                    place[value_of(key, chance)] = value_of(value, chance)
        elif field.message_type is not None and field.is_repeated:
            for _ in range(chance.randrange(3)):
                fill(getattr(message, field.name).add(), chance, depth + 1)
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            fill(getattr(message, field.name), chance, depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).extend(value_of(field, chance) for _ in range(chance.randrange(4)))
        else:
            setattr(message, field.name, value_of(field, chance))
    return message


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, content):
    """A text, bytes or a message (bytes), a varint (int) or a float."""
    if isinstance(content, float):
        return varint(number << 3 | 5) + struct.pack("<f", content)
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def node_with(attribute):
    """The graph of one node whose attribute "a" has this encoding."""
    return field(1, field(1, b"n") + field(5, field(1, b"a") + field(2, attribute)))


class GraphText(Case):
    def exported(self, graphs, stderr="", code=0):
        """The texts of graphs, which are given encoded."""
        with logs.Writer(self.path("logs")) as writer:
            for step, graph in enumerate(graphs):
                writer.graph(graph, step)
        result = self.run_sonde("export", "logs", "--kind", "graphs", "--format", "pbtxt", "-o", "out")
        self.assertEqual((result.returncode, result.stderr), (code, stderr))
        files = [pathlib.Path(self.path(f"out/__run_graph__/{step}.pbtxt")) for step in range(len(graphs))]
        return [path.read_text(encoding="ascii") if path.exists() else None for path in files]

    def assert_same(self, graphs):
        texts = self.exported(graphs)
        for text, graph in zip(texts, graphs):
            self.assertEqual(text_format.Parse(text, graph_pb2.GraphDef()), graph_pb2.GraphDef.FromString(graph))

    def test_every_field_of_every_message_is_what_it_was(self):
        messages = [fill(graph_pb2.GraphDef(), random.Random(seed)) for seed in range(400)]
        reached = set()

        def visit(message):
            for one, value in message.ListFields():
                reached.add(one.full_name)
                if is_map(one):
                    for item in value.values() if one.message_type.fields_by_name["value"].message_type else ():
                        visit(item)
                elif one.message_type is not None:
                    for item in value if one.is_repeated else [value]:
                        visit(item)

        defined = set()

        def define(descriptor):
            for one in () if descriptor.GetOptions().map_entry else descriptor.fields:
                if one.full_name not in defined:
                    defined.add(one.full_name)
                    for below in (one.message_type, is_map(one) and one.message_type.fields_by_name["value"].message_type):
                        if below:
                            define(below)

        for message in messages:
            visit(message)
        define(graph_pb2.GraphDef.DESCRIPTOR)
        self.assertEqual(defined - reached, set())  # no field is left untested
        self.assert_same([message.SerializeToString() for message in messages])

    def test_types_have_their_names(self):
        numbers = [1, 7, 25, 101, 125, 0, 100, 33, 9999]
        (text,) = self.exported([node_with(field(1, b"".join(field(6, number) for number in numbers)))])
        names = [line.split(": ")[1] for line in text.splitlines() if line.strip().startswith("type:")]
        self.assertEqual(names, ["DT_FLOAT", "DT_STRING", "DT_FLOAT8_E4M3FN", "DT_FLOAT_REF", "DT_FLOAT8_E4M3FN_REF",
                                 "DT_INVALID", "100", "33", "9999"])
        list_value = text_format.Parse(text, graph_pb2.GraphDef()).node[0].attr["a"].list
        self.assertEqual(list(list_value.type), numbers)
        self.assertEqual(types_pb2.DT_FLOAT8_E4M3FN, 25)

    def test_numbers_that_are_none_stay_so(self):
        nan = struct.unpack("<f", struct.pack("<I", 0xffc00001))[0]
        (text,) = self.exported([node_with(field(4, nan))])
        self.assertTrue(math.isnan(text_format.Parse(text, graph_pb2.GraphDef()).node[0].attr["a"].f))

    def test_fields_that_stand_several_times_count_as_readers_of_the_bytes_count_them(self):
        shape = [field(2, field(1, size)) for size in (2, 3)]
        one_name, other_name = field(1, b"one"), field(1, b"other")
        self.assert_same([
            field(1, one_name + other_name),  # the last value
            field(3, 1) + field(3, 2**64 - 1),
            field(4, field(1, 22)) + field(3, 7) + field(4, field(2, 5)) + field(4, field(1, 23)),  # merged
            node_with(field(7, shape[0]) + field(7, shape[1])),
            node_with(field(3, 7) + field(2, b"text")),  # one of several kinds: the last
            node_with(field(7, shape[0]) + field(3, 7) + field(7, shape[1])),
            node_with(field(1, field(3, 1) + field(3, varint(2) + varint(300)) + field(3, 2**64 - 3))),  # packed and not
            node_with(field(1, field(4, struct.pack("<2f", 1.5, -2)) + field(4, 0.25))),
            field(1, b"".join(field(5, field(1, b"k") + field(2, field(3, i))) for i in range(3))),  # a key again
            field(1, field(5, field(2, field(3, 1))) + field(5, field(1, b"k")) + field(5, b"")),  # no key, no value
            node_with(b""),
            b"",
        ])

    def test_unknown_fields_are_told_and_marked(self):
        known = node_with(field(3, 7))
        unknown = field(99, b"content") + field(1, field(1, 5) + field(77, 1.0) + field(2, b"op"))
        (text,) = self.exported([known + unknown], "sonde: left out 3 fields of graphs whose names this version does not "
                                                   "know: the files say where; --format pb has all\n")
        self.assertEqual(text.count("# left out: field "), 3)
        self.assertIn("# left out: field 99, whose name is not known", text)
        parsed = graph_pb2.GraphDef.FromString(known + unknown)
        parsed.DiscardUnknownFields()
        self.assertEqual(text_format.Parse(text, graph_pb2.GraphDef()), parsed)

    def test_functions_in_functions_as_deep_as_parsers_go(self):
        def nested(levels):
            attribute = field(3, 1)
            for _ in range(levels):  # three messages each: AttrValue, NameAttrList and an entry of its map
                attribute = field(10, field(2, field(1, b"f") + field(2, attribute)))
            return node_with(attribute)

        def is_read(graph):
            try:
                graph_pb2.GraphDef.FromString(graph)
                return True
            except DecodeError:
                return False

        deepest = max(levels for levels in range(100) if is_read(nested(levels)))
        self.assertGreater(deepest, 20)
        self.assert_same([nested(deepest)])

    def test_a_graph_that_no_parser_takes_is_left_out_and_told(self):
        types = b""
        for _ in range(50_000):
            types = field(2, types)
        graph = field(1, field(7, types))
        texts = self.exported([graph, field(3, 1)], code=2, stderr=(
            "sonde: left out 1 value that cannot be read, first '__run_graph__' of run '.' at step 0 (the graph nests more "
            "than 100 messages in each other, which no parser takes)\n"))
        self.assertEqual(texts, [None, "version: 1\n"])

    def test_damaged_bytes_are_told(self):
        texts = self.exported([field(1, field(1, b"n"))[:-1]], code=2, stderr=(
            "sonde: left out 1 value that cannot be read, first '__run_graph__' of run '.' at step 0 (the graph is not "
            "well-formed protobuf: end of buffer exception)\n"))
        self.assertEqual(texts, [None])

    def test_a_run_that_is_named_like_a_file_is_in_no_files_way(self):
        for run in ("logs/a", "logs/a/__run_graph__/0.pbtxt"):
            with logs.Writer(self.path(run)) as writer:
                writer.graph(field(3, 1))
        self.output("export", "logs", "--kind", "graphs", "--format", "pbtxt", "-o", "out")
        found = sorted(str(path.relative_to(self.path("out"))) for path in pathlib.Path(self.path("out")).rglob("*.pbtxt"))
        self.assertEqual(found, ["a/__run_graph__/0%2Epbtxt/__run_graph__/0.pbtxt", "a/__run_graph__/0.pbtxt"])

    def test_large_graphs(self):
        graph = graph_pb2.GraphDef()
        for i in range(5_000):
            node = graph.node.add(name=f"block_{i}/dense", op="MatMul", input=[f"block_{i - 1}/dense"] if i else [])
            node.attr["T"].type = types_pb2.DT_FLOAT
        graph.node[0].attr["value"].tensor.tensor_content = random.Random(1).randbytes(1 << 20)
        self.assert_same([graph.SerializeToString()])


if __name__ == "__main__":
    unittest.main()
