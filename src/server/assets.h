// The files of the page, built from web/ and embedded by cmake/SondeWeb.cmake. Only the command carries them, so
// `assets` is not called in this module: a server is told what to serve.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sonde::server {

struct Asset {
  std::string_view
      path;  // "index.html", "assets/index-2fOfAmPa.js": relative, with the hash of its content below assets/
  std::string_view content_type;  // with the charset where it is text
  std::string_view etag;          // quoted
  std::span<const std::byte> plain;
  std::span<const std::byte> gzip;  // the same as a gzip member; empty where that would not be smaller
};

// Sorted by path; empty where the program was built without the page (SONDE_WEB=OFF). Lives as long as the program.
std::span<const Asset> assets();

}  // namespace sonde::server
