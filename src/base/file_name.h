// Converts names given by people and programs to file names.
#pragma once

#include <string>
#include <string_view>

namespace sonde::base {

// Converts any text to the relative path of a file with this extension (".npy"), which stays below the directory that
// it is joined to. Slashes separate directories. Characters that are special to a file system or a shell are escaped as
// %3A, and so are parts that are hidden, "..", or empty; a part of more than 200 bytes is truncated and gets a
// checksum. Different texts get different paths (two long parts with the same beginning only as far as CRC-32C
// distinguishes them), and no path needs a directory where another one has a file.
//
//   "gradient/dense_1/out#1" -> "gradient/dense_1/out#1.npy"      "../a:b" -> "%2E./a%3Ab.npy"
std::string file_path_of(std::string_view text, std::string_view extension);
// The text of such a path. A truncated part stays as it is, with its checksum.
std::string text_of_file_path(std::string_view path, std::string_view extension);

}  // namespace sonde::base
