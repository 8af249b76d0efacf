// A GraphDef in protobuf's text format (.pbtxt), as TensorFlow's text_format.Parse reads it:
//
//   node {
//     name: "dense"
//     op: "MatMul"
//     input: "x"
//     attr { key: "T" value { type: DT_FLOAT } }      each message on lines of its own
//   }
//   versions { producer: 22 }
//
// Parsed, the text is equal to the message that the bytes are: a field that may stand once and stands several times is
// written as readers of the bytes take it, the last value, or the messages merged. Texts and bytes are ASCII, with \ooo
// for all other bytes. An enum of a number without a name is that number.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "sonde/status.h"

namespace sonde::formats {

struct GraphText {
  std::string text;
  // Fields that TensorFlow's definitions of today do not have. Their names are not known, and parsers refuse numbers:
  // each is a comment.
  std::uint64_t unknown_fields = 0;
};
// Code::corrupt, with the reason, where the bytes are not a well-formed GraphDef, or nest more messages in each other
// than protobuf's parsers take.
Result<GraphText> graph_def_text(base::Bytes bytes);

}  // namespace sonde::formats
