// Implements the questions about scalar series in store/lines.h.
#pragma once

#include "index/smooth.h"
#include "store/lines.h"

namespace sonde::index {

using store::DrawnLine;
using store::Grid;
using store::GridCell;
using store::LineRequest;
using store::LineSummary;
using store::NonFiniteSeries;

}  // namespace sonde::index
