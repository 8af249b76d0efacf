// The reader accounts for every byte, and its records are valid.
#include <cstdlib>
#include <string>

#include "formats/tfrecord.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sonde::tfrecord::RecordReader;
  const sonde::base::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const auto tail : {RecordReader::Tail::growing, RecordReader::Tail::complete}) {
    RecordReader reader(bytes, tail);
    std::uint64_t position = 0;
    for (;;) {
      const auto found = reader.next();
      if (reader.offset() != position) std::abort();
      position += reader.size();
      if (found == RecordReader::Found::record) {
        std::string again;
        sonde::tfrecord::put_record(again, sonde::base::as_text(reader.payload()));
        if (again != sonde::base::as_text(bytes.subspan(reader.offset(), reader.size()))) std::abort();
      } else if (found == RecordReader::Found::damage) {
        if (reader.size() == 0 || reader.reason().empty()) std::abort();
      } else {
        if (position != size) std::abort();
        if (tail == RecordReader::Tail::complete && found == RecordReader::Found::partial) std::abort();
        break;
      }
    }
  }
  return 0;
}
