// One function for each address of docs/api.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "query/api.h"
#include "query/catalogue.h"
#include "query/network_tiles.h"
#include "query/request.h"
#include "query/smoothed_cache.h"

namespace sonde::query {

// The inputs of an answer.
struct Context {
  const Runs& runs;
  std::shared_ptr<const Catalogue> catalogue;
  Actions* actions = nullptr;  // may be null
  bool may_write = false;
  SmoothedCache& averages;
  NetworkTiles& tiles;
};

Result<Answer> answer_status(const Context& context, const Params& params);
Result<Answer> answer_runs(const Context& context, const Params& params);
Result<Answer> answer_tags(const Context& context, const Params& params);
Result<Answer> answer_probes(const Context& context, const Params& params);

Result<Answer> answer_alerts(const Context& context, const Params& params);
Result<Answer> answer_captures(const Context& context, const Params& params);
Result<Answer> answer_capture(const Context& context, const Params& params);
Result<Answer> answer_growth(const Context& context, const Params& params);
Result<Answer> answer_triggers(const Context& context, const Params& params);
Result<Answer> answer_layouts(const Context& context, const Params& params);

Result<Answer> answer_series(const Context& context, const Body& body);
Result<Answer> answer_bands(const Context& context, const Body& body);
Result<Answer> answer_table(const Context& context, const Body& body);
Result<Answer> answer_scalars(const Context& context, const Params& params);

Result<Answer> answer_steps(const Context& context, const Params& params);
Result<Answer> answer_histograms(const Context& context, const Params& params);
Result<Answer> answer_statistics(const Context& context, const Params& params);
Result<Answer> answer_statistics_map(const Context& context, const Body& body);
Result<Answer> answer_network_tile(const Context& context, const Body& body);
Result<Answer> answer_network_cell(const Context& context, const Params& params);
Result<Answer> answer_network_parting(const Context& context, const Params& params);
Result<Answer> answer_media(const Context& context, const Params& params);
Result<Answer> answer_image(const Context& context, const Params& params);
Result<Answer> answer_audio(const Context& context, const Params& params);
Result<Answer> answer_pr_curve(const Context& context, const Params& params);

Result<Answer> answer_arm(const Context& context, const Body& body);
Result<Answer> answer_disarm(const Context& context, const Body& body);
Result<Answer> answer_note(const Context& context, const Body& body);
Result<Answer> answer_delete(const Context& context, const Body& body);

// The range of a request body, in steps or in seconds since 1970.
Range range_of(const Run& run, AxisName axis, const Span& span);

Answer json_answer(std::string body);

}  // namespace sonde::query
