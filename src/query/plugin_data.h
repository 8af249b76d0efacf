// What two of TensorBoard's plugins keep as protobuf: hyper-parameters and custom layouts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::query {

// Of the plugin content of a tag of kind hparams (formats/hparams.h). Nothing where it is of another message, or not
// well-formed.
//
// The hyper-parameters that a session began with, as a JSON object.
std::optional<std::string> session_hparams(std::string_view content);
// The tags of the experiment's metrics.
std::optional<std::vector<std::string>> experiment_metrics(std::string_view content);

// Layout { category=2 { title=1, chart=2 { title=1, multiline=2 { tag=1 }, margin=3 { series=1 { value=1, lower=2,
// upper=3 } } }, closed=3 } }: the categories as a JSON array. Nothing where it is not well-formed.
std::optional<std::string> layout_categories(std::string_view layout);

}  // namespace sonde::query
