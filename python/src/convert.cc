#include "convert.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <utility>

namespace sonde::python {
namespace {

template <class Enum>
struct Named {
  std::string_view name;
  Enum value;
};

template <class Enum>
Enum find_name(nb::handle object, const char* argument, std::span<const Named<Enum>> names) {
  const std::string_view text = to_text(object, argument);
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  std::string sentence = std::string(argument) + " must be one of";
  for (const auto& each : names)
    sentence.append(each.name == names.front().name ? " '" : ", '").append(each.name) += '\'';
  raise_value_error(sentence + ", not '" + std::string(text) + "'");
}

constexpr std::array<Named<Kind>, 6> kKinds = {{{"activation", Kind::activation},
                                                {"gradient", Kind::gradient},
                                                {"weight", Kind::weight},
                                                {"update", Kind::update},
                                                {"input", Kind::input},
                                                {"output", Kind::output}}};
constexpr std::array<Named<Layout>, 6> kLayouts = {{{"HW", Layout::HW},
                                                    {"HWC", Layout::HWC},
                                                    {"CHW", Layout::CHW},
                                                    {"NHW", Layout::NHW},
                                                    {"NHWC", Layout::NHWC},
                                                    {"NCHW", Layout::NCHW}}};
constexpr std::array<Named<ColorMap>, 4> kColors = {{{"automatic", ColorMap::automatic},
                                                     {"grey", ColorMap::grey},
                                                     {"viridis", ColorMap::viridis},
                                                     {"diverging", ColorMap::diverging}}};
constexpr std::array<Named<Overflow>, 3> kOverflows = {
    {{"wait", Overflow::wait}, {"drop_newest", Overflow::drop_newest}, {"drop_oldest", Overflow::drop_oldest}}};
constexpr std::array<Named<Precision>, 2> kPrecisions = {{{"f32", Precision::f32}, {"f64", Precision::f64}}};
constexpr std::array<Named<Keep>, 10> kKeeps = {{{"nothing", Keep::nothing},
                                                 {"stats", Keep::stats},
                                                 {"histogram", Keep::histogram},
                                                 {"image", Keep::image},
                                                 {"print", Keep::print},
                                                 {"whole", Keep::whole},
                                                 {"npy", Keep::npy},
                                                 {"npz", Keep::npz},
                                                 {"csv", Keep::csv},
                                                 {"audio", Keep::audio}}};

std::string name_of_type(nb::handle object) { return nb::type_name(object.type()).c_str(); }

}  // namespace

void raise(const Status& status) {
  PyObject* type = PyExc_RuntimeError;
  int number = 0;
  switch (status.code()) {
    case Code::invalid_argument:
    case Code::corrupt:
    case Code::closed: type = PyExc_ValueError; break;
    case Code::not_found:
      type = PyExc_FileNotFoundError;
      number = ENOENT;
      break;
    case Code::permission_denied:
      type = PyExc_PermissionError;
      number = EACCES;
      break;
    case Code::no_space:
      type = PyExc_OSError;
      number = ENOSPC;
      break;
    case Code::io:
      type = PyExc_OSError;
      number = EIO;
      break;
    case Code::unsupported: type = PyExc_NotImplementedError; break;
    default: break;
  }
  if (number != 0) {
    const nb::object arguments = nb::make_tuple(number, status.message());
    PyErr_SetObject(type, arguments.ptr());
  } else {
    PyErr_SetString(type, status.message().c_str());
  }
  throw nb::python_error();
}

void raise_type_error(const char* argument, const char* expected, nb::handle got) {
  PyErr_Format(PyExc_TypeError, "%s must be %s, not %s", argument, expected, name_of_type(got).c_str());
  throw nb::python_error();
}

void raise_value_error(const std::string& sentence) {
  PyErr_SetString(PyExc_ValueError, sentence.c_str());
  throw nb::python_error();
}

std::string sentence_of(const nb::python_error& error) {
  const std::string text = nb::str(error.value()).c_str();  // torch appends a stack of its C++ functions
  return std::string(nb::type_name(error.type()).c_str()) + ": " + text.substr(0, text.find('\n'));
}

std::string_view to_text(nb::handle object, const char* argument) {
  if (!PyUnicode_Check(object.ptr())) raise_type_error(argument, "a str", object);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) throw nb::python_error();  // a lone surrogate
  return {text, static_cast<std::size_t>(size)};
}

double to_double(nb::handle object, const char* argument) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    // A TypeError of the object's own, such as that of a tensor on a device, says more than this one would.
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();
    raise_type_error(argument, "a number", object);
  }
  return value;
}

std::int64_t to_integer(nb::handle object, const char* argument) {
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  if (PyLong_Check(object.ptr())) {
    const long long value = PyLong_AsLongLong(object.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      raise_value_error(std::string(argument) + " does not fit into 64 bits");
    }
    return value;
  }
  const nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    raise_type_error(argument, "an int", object);
  }
  return to_integer(index, argument);
}

int to_int(nb::handle object, const char* argument) {
  const std::int64_t value = to_integer(object, argument);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    raise_value_error(std::string(argument) + " does not fit into 32 bits");
  }
  return static_cast<int>(value);
}

bool to_flag(nb::handle object, const char* argument) {
  if (object.ptr() == Py_True) return true;
  if (object.ptr() == Py_False) return false;
  raise_type_error(argument, "True or False", object);
}

std::vector<double> to_doubles(nb::handle object, const char* argument) {
  std::vector<double> numbers;
  for (const nb::object& item : to_items(object, argument, "a sequence of numbers")) {
    numbers.push_back(to_double(item, argument));
  }
  return numbers;
}

Kind to_kind(nb::handle object, const char* argument) { return find_name<Kind>(object, argument, kKinds); }
Layout to_layout(nb::handle object, const char* argument) { return find_name<Layout>(object, argument, kLayouts); }
ColorMap to_colors(nb::handle object, const char* argument) { return find_name<ColorMap>(object, argument, kColors); }
ImageOptions to_image_options(nb::handle colors, nb::handle max_cells, nb::handle low, nb::handle high) {
  return {.colors = to_colors(colors, "colors"),
          .max_cells = to_int(max_cells, "max_cells"),
          .low = to_double(low, "low"),
          .high = to_double(high, "high")};
}

Overflow to_overflow(nb::handle object, const char* argument) {
  return find_name<Overflow>(object, argument, kOverflows);
}
Precision to_precision(nb::handle object, const char* argument) {
  return find_name<Precision>(object, argument, kPrecisions);
}

DType to_dtype(nb::handle object, const char* argument) {
  const std::string_view text = to_text(object, argument);
  for (int i = 0; i < kDTypeCount; ++i) {
    if (to_string(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  }
  raise_value_error(std::string(argument) + " must be the name of an element type such as 'f32' or 'bf16', not '" +
                    std::string(text) + "'");
}

Keep to_keep(nb::handle object, const char* argument) {
  if (PyUnicode_Check(object.ptr())) return find_name<Keep>(object, argument, kKeeps);
  Keep keep = Keep::nothing;
  for (const nb::object& item : to_items(object, argument, "a str or a sequence of str")) {
    keep = keep | find_name<Keep>(item, argument, kKeeps);
  }
  return keep;
}

nb::tuple to_names(Keep keep) {
  nb::list names;
  for (const auto& [name, value] : kKeeps) {
    if (has(keep, value)) names.append(nb::str(name.data(), name.size()));
  }
  return nb::tuple(names);
}

std::vector<std::string> to_texts(nb::handle object, const char* argument) {
  std::vector<std::string> texts;
  if (PyUnicode_Check(object.ptr())) raise_type_error(argument, "a sequence of str", object);
  for (const nb::object& item : to_items(object, argument, "a sequence of str")) {
    texts.emplace_back(to_text(item, argument));
  }
  return texts;
}

Shape to_shape(nb::handle object, const char* argument) {
  Shape shape;
  for (const nb::object& item : to_items(object, argument, "a sequence of int")) {
    shape.push_back(to_integer(item, argument));
  }
  if (!shape.valid()) raise_value_error(std::string(argument) + " has more than 8 dimensions");
  return shape;
}

std::vector<nb::object> to_items(nb::handle object, const char* argument, const char* expected) {
  const nb::object iterator = nb::steal(PyObject_GetIter(object.ptr()));
  if (!iterator.is_valid()) {
    PyErr_Clear();
    raise_type_error(argument, expected, object);
  }
  std::vector<nb::object> items;
  while (PyObject* item = PyIter_Next(iterator.ptr())) items.push_back(nb::steal(item));
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return items;
}

}  // namespace sonde::python
