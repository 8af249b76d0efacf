// The result of `sonde diff` as text for people, as JSON and as a page.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/difference.h"
#include "formats/json_writer.h"

namespace sonde::cli {

// What the user named.
struct DiffNames {
  std::string a;
  std::string b;
};

// Verdict, first difference, culprit and a table of tensors.
std::string diff_text(const compare::Difference& difference, const DiffNames& names, bool color);
// {"verdict": ..., "first": ..., "tensors": [...]}
std::string diff_json(const compare::Difference& difference, const DiffNames& names);

// ---- Parts of the above, shared with the page.

// "norm-relative 1e-05 (f32)", or several if they differ: all tolerances that tensors were judged by.
std::string tolerances_text(const compare::Difference& difference);
// "different: 3 of 120 tensors exceed norm-relative 1e-05 (f32)"
std::string verdict_text(const compare::Difference& difference);
// "f32[32,128]", or "f32[32,128] and f16[32,128]"
std::string type_text(const compare::Row& row);
// "[3, 17]": the element with the largest difference; empty if there is none
std::string worst_text(const compare::Row& row);

// Casts, permutations and reasons of one tensor.
std::string row_notes(const compare::Row& row);
// Sentences about the first difference, the culprit and the notes.
std::vector<std::string> findings(const compare::Difference& difference);

}  // namespace sonde::cli
