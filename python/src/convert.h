// Python's values as those of the library. What does not fit raises TypeError or ValueError with the argument's name
// and what was expected. The interpreter's lock is held in all of these.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/options.h"
#include "sonde/policy.h"
#include "sonde/status.h"
#include "sonde/summaries.h"

namespace sonde::python {

namespace nb = nanobind;

// Raises what a Status says: FileNotFoundError, PermissionError, OSError, ValueError or RuntimeError.
[[noreturn]] void raise(const Status& status);
inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}
template <class T>
T take(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

[[noreturn]] void raise_type_error(const char* argument, const char* expected, nb::handle got);
[[noreturn]] void raise_value_error(const std::string& sentence);

// "ValueError: what it says", without the traceback.
std::string sentence_of(const nb::python_error& error);

// Valid as long as the object lives.
std::string_view to_text(nb::handle object, const char* argument);
// A float, an int, or anything with __float__: NumPy's scalars, tensors with one element.
double to_double(nb::handle object, const char* argument);
// The same, and faster, for tensors; those with one element and several axes are taken too.
double to_scalar(nb::handle object, const char* argument);
// An int, or anything with __index__. A float is refused: it is a swapped argument.
std::int64_t to_integer(nb::handle object, const char* argument);
int to_int(nb::handle object, const char* argument);
// True or False, and nothing that is merely true.
bool to_flag(nb::handle object, const char* argument);

std::vector<double> to_doubles(nb::handle object, const char* argument);

// Names of enumerators, as the library spells them.
Kind to_kind(nb::handle object, const char* argument);
Layout to_layout(nb::handle object, const char* argument);
ColorMap to_colors(nb::handle object, const char* argument);
ImageOptions to_image_options(nb::handle colors, nb::handle max_cells, nb::handle low, nb::handle high);
Overflow to_overflow(nb::handle object, const char* argument);
Precision to_precision(nb::handle object, const char* argument);
DType to_dtype(nb::handle object, const char* argument);
// "stats", or several of them.
Keep to_keep(nb::handle object, const char* argument);
nb::tuple to_names(Keep keep);
std::vector<std::string> to_texts(nb::handle object, const char* argument);
Shape to_shape(nb::handle object, const char* argument);

// A list or tuple as a vector of its elements.
std::vector<nb::object> to_items(nb::handle object, const char* argument, const char* expected);

}  // namespace sonde::python
