#!/usr/bin/env python3
"""Makes src/regexp/unicode_tables.cc: the categories, scripts and case pairs of Unicode, for regular expressions.

The file is in the repository already; this is how it came there, and how to make it again for a newer Unicode. Python
knows the categories and the cases, Perl the scripts; both must be of the same version of Unicode.

    python3 tools/make_unicode_tables.py
"""

import pathlib
import subprocess
import sys
import unicodedata

TABLES = pathlib.Path(__file__).resolve().parent.parent / "src" / "regexp" / "unicode_tables.cc"
CHARACTERS = range(0x110000)
SCRIPTS = """
use Unicode::UCD qw(prop_invmap);
my ($first, $script) = prop_invmap('Script');
print Unicode::UCD::UnicodeVersion(), "\\n";
print "$first->[$_] $script->[$_]\\n" for 0 .. $#$first;
"""


def runs(values):
    """The characters at which the value changes, and the new value."""
    last = None
    for character, value in enumerate(values):
        if value != last:
            yield character, value
        last = value


def scripts():
    version, *lines = subprocess.run(["perl", "-e", SCRIPTS], capture_output=True, text=True, check=True).stdout.splitlines()
    if version != unicodedata.unidata_version:
        sys.exit(f"make_unicode_tables: Perl has Unicode {version}, Python {unicodedata.unidata_version}")
    return [(int(first), "" if name == "Unknown" else name) for first, name in (line.split() for line in lines)]


def folded(character):
    """Simple case folding: of the foldings to one character, the common one."""
    text = chr(character)
    for candidate in (text.casefold(), text.lower()):
        if len(candidate) == 1:
            return ord(candidate)
    return character


def case_steps():
    """(first, last, stride, delta): every stride-th character + delta is the next one that differs only in case."""
    alike = {}
    for character in CHARACTERS:
        if not 0xD800 <= character < 0xE000:
            alike.setdefault(folded(character), set()).add(character)
    following = {}
    for fold, members in alike.items():
        ring = sorted(members | {fold})
        following.update(zip(ring, ring[1:] + ring[:1]) if len(ring) > 1 else ())
    steps = []
    for character, other in sorted(following.items()):
        delta = other - character
        for step in steps[-2:]:
            gap = character - step[1]
            if step[3] == delta and gap in (1, 2) and (step[0] == step[1] or gap == step[2]):
                step[1], step[2] = character, gap
                break
        else:
            steps.append([character, character, 1, delta])
    return sorted(steps)


def table(kind, name, items):
    lines = [f"constexpr {kind} {name}[] = {{"]
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > 120:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([*lines, line, "};", ""])


def change_table(name, changes):
    """Two tables: the names, sorted and with the empty one for unassigned characters, and the changes."""
    changes = list(changes)
    names = sorted({value for _, value in changes} | {""})
    assert len(names) < 256
    entries = [f"0x{first << 8 | names.index(value):x}" for first, value in changes]
    return table("std::string_view", f"k{name}Names", [f'"{value}"' for value in names]) + table(
        "std::uint32_t", f"k{name}", entries)


def main():
    categories = ["" if value == "Cn" else value for value in (unicodedata.category(chr(c)) for c in CHARACTERS)]
    steps = ["{{0x{:x}, 0x{:x}, {}, {}}}".format(*step) for step in case_steps()]
    TABLES.write_text(f"""// Unicode {unicodedata.unidata_version}, made by tools/make_unicode_tables.py.
#include "regexp/unicode.h"

namespace sonde::regexp {{
namespace {{

// clang-format off
// Each number is a character << 8 and the place of the name that it and those behind it have.
{change_table("Categories", runs(categories))}
{change_table("Scripts", scripts())}
{table("CaseStep", "kCaseSteps", steps)}// clang-format on

}}  // namespace

std::span<const std::string_view> category_names() noexcept {{ return kCategoriesNames; }}
std::span<const std::uint32_t> categories() noexcept {{ return kCategories; }}
std::span<const std::string_view> script_names() noexcept {{ return kScriptsNames; }}
std::span<const std::uint32_t> scripts() noexcept {{ return kScripts; }}
std::span<const CaseStep> case_steps() noexcept {{ return kCaseSteps; }}

}}  // namespace sonde::regexp
""")
    print(f"{TABLES.name}: {TABLES.stat().st_size} bytes")


if __name__ == "__main__":
    main()
