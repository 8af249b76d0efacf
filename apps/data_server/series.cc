#include "series.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "store/raw_value.h"

namespace sonde::data_server {
namespace {

using Known = std::pair<std::string_view, rpc::DataClass>;
constexpr std::array kKnown = {
    Known{"scalars", rpc::DATA_CLASS_SCALAR},
    Known{"histograms", rpc::DATA_CLASS_TENSOR},
    Known{"text", rpc::DATA_CLASS_TENSOR},
    Known{"pr_curves", rpc::DATA_CLASS_TENSOR},
    Known{"mesh", rpc::DATA_CLASS_TENSOR},
    Known{"hparams", rpc::DATA_CLASS_TENSOR},
    Known{"custom_scalars", rpc::DATA_CLASS_TENSOR},
    Known{"images", rpc::DATA_CLASS_BLOB_SEQUENCE},
    Known{"audio", rpc::DATA_CLASS_BLOB_SEQUENCE},
    Known{"graphs", rpc::DATA_CLASS_BLOB_SEQUENCE},
    Known{"graph_run_metadata", rpc::DATA_CLASS_BLOB_SEQUENCE},
    Known{"graph_run_metadata_graph", rpc::DATA_CLASS_BLOB_SEQUENCE},
    Known{"graph_keras_model", rpc::DATA_CLASS_BLOB_SEQUENCE},
    Known{"graph_tagged_run_metadata", rpc::DATA_CLASS_BLOB_SEQUENCE},
};

// Clips of the old form have no metadata; these say that the encoding is WAV, without which the page does not play
// them.
constexpr std::string_view kConvertedAudio = "\x10\x0b\x18\x01";

}  // namespace

std::string plugin_of(const Tag& tag) { return tag.kind == TagKind::statistics ? "" : base::valid_utf8(tag.plugin); }

rpc::DataClass data_class_of(const Run& run, const Tag& tag) {
  const std::string plugin = plugin_of(tag);
  const auto known = std::ranges::find(kKnown, plugin, &Known::first);
  if (known != kKnown.end()) return known->second;
  const auto values = run.values(tag.name, tag.kind, {}, History::all);
  if (!values || values->empty()) return rpc::DATA_CLASS_UNKNOWN;
  const auto first = store::read_raw(run, values->front());
  if (!first || (*first)->event.what != tfevents::Event::What::summary) return rpc::DATA_CLASS_UNKNOWN;
  return static_cast<rpc::DataClass>((*first)->value().metadata.data_class);
}

void fill_metadata(const Tag& tag, rpc::DataClass data_class, rpc::SummaryMetadata& metadata) {
  const bool old_audio = tag.kind == TagKind::audio && tag.plugin_content.empty();
  metadata.mutable_plugin_data()->set_plugin_name(plugin_of(tag));
  metadata.mutable_plugin_data()->set_content(old_audio ? std::string(kConvertedAudio) : tag.plugin_content);
  metadata.set_display_name(base::valid_utf8(tag.display_name));
  metadata.set_summary_description(base::valid_utf8(tag.description));
  metadata.set_data_class(data_class);
}

}  // namespace sonde::data_server
