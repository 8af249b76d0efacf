// A series as one line of characters.
#pragma once

#include <string>

#include "render/console.h"
#include "sonde/log.h"

namespace sonde::cli {

// At most `width` columns over the steps of the drawing, and not more than it has points, each as high as the mean of
// its smallest and largest point; blank if it has no points, `!` if one is not finite.
std::string sparkline(const Drawing& drawing, int width, render::Glyphs glyphs);

}  // namespace sonde::cli
