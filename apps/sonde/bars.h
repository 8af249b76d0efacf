// A histogram in lines of text, a bar each:
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

// A line for each bucket, beginning with its left end; at most `lines`, of equal width from the first bucket that is
// not empty to the last. Nothing where all are empty.
std::string bars(const std::vector<Bucket>& buckets, int lines, const TextStyle& style);

// What the statistics of a tensor say, in the form from which percentiles and equal buckets are derived.
stats::Summary summary_of(const TensorStatistics& statistics);
stats::Histogram histogram_of(const TensorStatistics& statistics);

}  // namespace sonde::cli
