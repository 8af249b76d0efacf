// Names that people and programs give to things, as names of files.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// Any text as the relative path of a file with this extension (".npy"), which stays below the directory that it is
// joined to. Slashes part directories; what means something else to a file system or a shell is escaped as %3A, a part
// that is hidden or "..", or empty, too; a part of more than 200 bytes is cut and gets a checksum. Different texts get
// different paths (two long parts with the same beginning only as far as CRC-32C tells them apart), and none of them
// needs a directory where another one has a file.
//
//   "gradient/dense_1/out#1" -> "gradient/dense_1/out#1.npy"      "../a:b" -> "%2E./a%3Ab.npy"
std::string file_path_of(std::string_view text, std::string_view extension);
// The text of such a path. A part that was cut stays as it is, with its checksum.
std::string text_of_file_path(std::string_view path, std::string_view extension);

}  // namespace sonde
