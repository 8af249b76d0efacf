// The files of the page, built from web/ and embedded by cmake/SondeWeb.cmake. Only the command contains them, so this
// module does not call `assets`: the server gets its files as an option.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sonde::server {

struct Asset {
  std::string_view
      path;  // "index.html", "assets/index-2fOfAmPa.js": relative, with the hash of its content below assets/
  std::string_view content_type;  // with the charset if it is text
  std::string_view etag;          // quoted
  std::span<const std::byte> plain;
  std::span<const std::byte> gzip;  // the same as a gzip member; empty if that would not be smaller
};

// Sorted by path; empty if the program was built without the page (SONDE_WEB=OFF). Lives as long as the program.
std::span<const Asset> assets();

}  // namespace sonde::server
