// A histogram in lines of text, one bar per line:
//
//      -2.1 |####                    | 12
//      -1.4 |########################| 71
#pragma once

#include <string>
#include <vector>

#include "sonde/log.h"
#include "stats/summary.h"
#include "tensor_text.h"

namespace sonde::cli {

// One line per bucket, beginning with its left end; at most `lines`, of equal width from the first non-empty bucket to
// the last. Empty if all are empty.
std::string bars(const std::vector<Bucket>& buckets, int lines, const TextStyle& style);

// The statistics of a tensor in the form from which percentiles and equal buckets are derived.
stats::Summary summary_of(const TensorStatistics& statistics);
stats::Histogram histogram_of(const TensorStatistics& statistics);

}  // namespace sonde::cli
