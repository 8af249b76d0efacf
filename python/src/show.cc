// What sonde.show prints and draws: the line of a tensor, its statistics and buckets, its values.
#include "sonde/show.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "convert.h"
#include "owner.h"
#include "state.h"
#include "tensor_import.h"

namespace sonde::python {

using namespace nb::literals;

void bind_show(nb::module_& module) {
  // (line, [(left, right, count), ...])
  module.def(
      "show",
      [](nb::handle tensor, nb::handle name, int buckets) {
        const ImportedTensor imported(tensor, "tensor");
        const std::string title(to_text(name, "name"));
        std::optional<Result<Shown>> made;
        {
          const Unlocked unlocked;
          made.emplace(show(title, imported.view(), buckets));
        }
        const Shown shown = take(std::move(*made));
        nb::list found;
        for (const Bucket& each : shown.buckets) found.append(nb::make_tuple(each.left, each.right, each.count));
        return nb::make_tuple(shown.line, found);
      },
      "tensor"_a, "name"_a, "buckets"_a);
  module.def(
      "values_text",
      [](nb::handle tensor, nb::handle summarize) {
        const ImportedTensor imported(tensor, "tensor");
        std::optional<int> edge;
        if (!summarize.is_none()) edge = to_int(summarize, "summarize");
        return take(values_text(imported.view(), edge));
      },
      "tensor"_a, "summarize"_a.none());
}

}  // namespace sonde::python
