// PNG: one picture.
//
//   8 bytes "\x89PNG\r\n\x1a\n", then chunks. A chunk: length of its data u32, type (4 letters), data, CRC-32 of type
//   and data u32. All numbers are big-endian.
//
//   IHDR   width u32, height u32, bits of a sample u8 (8 or 16), colour type u8 (0 grey, 4 grey and alpha, 2 RGB,
//          6 RGBA), compression u8 = 0, filters u8 = 0, interlacing u8 = 0
//   IDAT   one or more: together a zlib stream of rows, each a byte that names its filter (0 none, 1 sub, 2 up,
//          3 average, 4 Paeth) and the filtered samples, 16-bit ones big-endian
//   IEND   empty
//
// All written rows use `sub`, the difference to the pixel on the left: with the fastest compression its size is within
// a few percent of trying all filters, and it vectorises.
#pragma once

#include <string>

#include "base/bytes.h"
#include "sonde/status.h"
#include "tensor/tensor_data.h"

namespace sonde::png {

// A picture [height, width] or [height, width, channels] of u8 or u16, with 1 (grey), 2 (grey and alpha), 3 (RGB) or
// 4 (RGBA) channels, and at least one pixel.
Result<std::string> encode(const TensorView& picture);

// A picture as u8 or u16[height, width, channels]. Palettes, fewer than 8 bits and interlacing are `unsupported`; every
// checksum is verified; chunks that only describe the picture are skipped.
Result<Tensor> decode(base::Bytes file);

}  // namespace sonde::png
