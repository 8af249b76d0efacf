// A series as one line of characters.
#pragma once

#include <string>

#include "render/console.h"
#include "sonde/log.h"

namespace sonde::cli {

// At most `width` columns over the steps of the drawing, not more than it has points, each as high as the mean of its
// smallest and largest point; blank where there is none, `!` where something is not finite.
std::string sparkline(const Drawing& drawing, int width, render::Glyphs glyphs);

}  // namespace sonde::cli
