// The series of a log as TensorBoard sees them: which plugin they belong to, and by which calls they are read.
#pragma once

#include <string>

#include "data_provider.pb.h"
#include "sonde/log.h"

namespace sonde::data_server {

namespace rpc = tensorboard::data;

// The plugin that shows the tag; empty if none does.
std::string plugin_of(const Tag& tag);

// By the plugin where it is a known one; otherwise what the metadata of the first value say.
rpc::DataClass data_class_of(const Run& run, const Tag& tag);

void fill_metadata(const Tag& tag, rpc::DataClass data_class, rpc::SummaryMetadata& metadata);

}  // namespace sonde::data_server
