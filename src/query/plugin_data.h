// The protobuf data of two TensorBoard plugins: hyper-parameters and custom layouts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::query {

// From the plugin content of a tag of kind hparams (formats/hparams.h). Empty if it is another message, or not
// well-formed.
//
// The hyper-parameters of a session start, as a JSON object.
std::optional<std::string> session_hparams(std::string_view content);
// The tags of the experiment's metrics.
std::optional<std::vector<std::string>> experiment_metrics(std::string_view content);

// Layout { category=2 { title=1, chart=2 { title=1, multiline=2 { tag=1 }, margin=3 { series=1 { value=1, lower=2,
// upper=3 } } }, closed=3 } }: the categories as a JSON array. Empty if it is not well-formed.
std::optional<std::string> layout_categories(std::string_view layout);

}  // namespace sonde::query
