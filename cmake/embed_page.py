"""Turns the built page into one source file and one file of bytes that it includes: embed_page.py DIST SOURCE BYTES.

The source defines assets() of src/server/assets.h. The bytes are those of each file, then those of its gzip member where
that is smaller, one after another.
"""
import gzip
import hashlib
import json
import pathlib
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}

SOURCE = """// Made by cmake/embed_page.py.
#include "server/assets.h"

asm(R"(
  .pushsection .rodata
  .balign 16
sonde_page:
  .incbin {path}
  .byte 0
  .popsection
)");

extern "C" __attribute__((visibility("hidden"))) const std::byte sonde_page[];

namespace sonde::server {{

std::span<const Asset> assets() {{
  static const Asset all[] = {{
{rows}  }};
  return all;
}}

}}  // namespace sonde::server
"""


def literal(text: str) -> str:
    return json.dumps(text)  # the same escapes as C++, as far as paths need any


def main(dist: pathlib.Path, source: pathlib.Path, bytes_file: pathlib.Path) -> None:
    blob, rows = bytearray(), ""

    def place(data: bytes) -> str:
        begin = len(blob)
        blob.extend(data)
        return f"{{sonde_page + {begin}, {len(data)}}}"

    for path in sorted(dist.rglob("*")):
        name = path.relative_to(dist).as_posix()
        if path.is_dir() or name == "manifest.json":
            continue
        if path.suffix not in TYPES:
            sys.exit(f"embed_page: {name} has a suffix that no content type is known for; add it to {__file__}")
        plain = path.read_bytes()
        packed = gzip.compress(plain, 9, mtime=0)
        etag = f'"{hashlib.sha256(plain).hexdigest()[:20]}"'
        row = [literal(name), literal(TYPES[path.suffix]), literal(etag), place(plain),
               place(packed) if len(packed) < len(plain) else "{}"]
        rows += f"      {{{', '.join(row)}}},\n"
    if not rows:
        sys.exit(f"embed_page: {dist} holds no page")
    bytes_file.write_bytes(blob)
    source.write_text(SOURCE.format(path=literal(str(bytes_file)), rows=rows))


if __name__ == "__main__":
    main(*(pathlib.Path(word).resolve() for word in sys.argv[1:]))
