#include "formats/openvino_ir.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)sonde::openvino_ir::decode({reinterpret_cast<const char*>(data), size});
  return 0;
}
