// The result of `sonde diff` as one HTML file, with pictures of where tensors differ. The file needs no network and
// runs no script.
#pragma once

#include <map>
#include <string>

#include "compare/difference.h"
#include "diff_report.h"
#include "sonde/tensor.h"

namespace sonde::cli {

class DiffPage {
 public:
  // Draws |a - b| of a pair that differs; called while the tensors are in memory, also several times
  // for one tensor if there are several inputs. The first kMostMaps are kept.
  void add(const compare::Row& row, const TensorView& a, const TensorView& b);

  std::string html(const compare::Difference& difference, const DiffNames& names) const;

 private:
  std::string pictures(const compare::Difference& difference) const;

  static constexpr std::size_t kMostMaps = 100;
  struct Map {
    std::string png;      // as base64
    std::string caption;  // what a row and a column are
    int width = 0;
    int height = 0;
    double error = 0;  // of several inputs the one with the largest is drawn
  };
  std::map<std::string, Map> maps_;  // by the tensor's name in A
};

}  // namespace sonde::cli
