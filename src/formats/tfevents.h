// Writing TensorBoard's event files. An event file is TFRecords (formats/tfrecord.h), each payload an Event; the first
// says file_version = "brain.Event:2". Protobuf messages, with their field numbers:
//
//   Event            wall_time=1 double, step=2 int64, source_metadata=10 { writer=1 }, and one of
//                    file_version=3, graph_def=4 bytes, summary=5, log_message=6, session_log=7,
//                    tagged_run_metadata=8, meta_graph_def=9 bytes
//   Summary          value=1 repeated
//   Summary.Value    tag=1, metadata=9, node_name=7, and one of tensor=8 or the old forms
//                    simple_value=2 float, image=4, histo=5, audio=6 (tfevents_decode.h)
//   SummaryMetadata  plugin_data=1 { plugin_name=1, content=2 bytes }, display_name=2, summary_description=3,
//                    data_class=4 (1 scalar, 2 tensor, 3 blob sequence)
//   TensorProto      dtype=1, tensor_shape=2 { dim=2 repeated { size=1 } }, tensor_content=4 (little-endian,
//   row-major),
//                    or the values: float_val=5, double_val=6, int_val=7, string_val=8, ...
//
// The tensor of each plugin, and the content of its metadata:
//
//   scalars         rank 0, float (double: opt-in)             -
//   histograms      [k,3] double: left, right, count           -
//   images          [2+n] string: width, height (ASCII), PNGs  -
//   audio           [n,2] string: WAV, label                   { encoding=2: 11 }
//   text            string, rank 0 or 1                        -
//   pr_curves       [6,n] float: TP, FP, TN, FN, precision, recall   { num_thresholds=2 }
//   mesh            [batch,n,3]: vertices float, faces int32, colours uint8
//                   { name=2, content_type=3, json_config=5, shape=6, components=7 }
//   custom_scalars  rank 0 string: Layout { category=2 { title=1, chart=2 { title=1, multiline=2 { tag=1 } or
//                   margin=3 { series=1 { value=1, lower=2, upper=3 } } } } }
//   hparams         [0] float; the content is the data: one of experiment=2, session_start_info=3, session_end_info=4
//
// Everything is appended; there is no state between calls. Metadata are needed with the first value of a tag in a file
// and ignored with later ones. All functions may be called from any thread, each with its own string.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/options.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"
#include "stats/derived.h"

namespace sonde::tfevents {

// ---- Events: whole records, ready for the file. Wall times are seconds since 1970.

void put_version_event(std::string& file, double wall_time);
// SessionLog.START: readers leave out what earlier files of the run hold from this step on.
void put_session_start_event(std::string& file, double wall_time, std::int64_t step);
// A summary with one scalar, as a separate function because it is the hot path.
void put_scalar_event(std::string& file, double wall_time, std::int64_t step, std::string_view tag, double value,
                      Precision precision, bool with_metadata);
// `summary`: the output of the functions below, one or more values.
void put_summary_event(std::string& file, double wall_time, std::int64_t step, std::string_view summary);
// `graph_def`: formats/graph_def.h.
void put_graph_event(std::string& file, double wall_time, std::string_view graph_def);
// Gives an encoded Event another time: of a field that is repeated the last one counts.
void put_wall_time(std::string& event, double wall_time);

// ---- Values: each appends one Summary.Value to `summary`.

void put_scalar(std::string& summary, std::string_view tag, double value, Precision precision, bool with_metadata);

void put_histogram(std::string& summary, std::string_view tag, std::span<const stats::Bucket> buckets,
                   bool with_metadata);

// PNG files of one size.
void put_images(std::string& summary, std::string_view tag, std::int64_t width, std::int64_t height,
                std::span<const std::string_view> pngs, bool with_metadata);

struct AudioClip {
  std::string_view wav;    // a WAV file
  std::string_view label;  // Markdown; may be empty
};
// Its metadata name no data class: readers then take the clips from the pairs, and otherwise fail.
void put_audio(std::string& summary, std::string_view tag, std::span<const AudioClip> clips, bool with_metadata);

// One text has rank 0, a list of them (shown as a table) rank 1.
void put_text(std::string& summary, std::string_view tag, std::string_view text, bool with_metadata);
void put_text(std::string& summary, std::string_view tag, std::span<const std::string_view> texts, bool with_metadata);

struct PrCurve {
  int thresholds = 0;         // n, evenly spaced from 0 to 1
  std::vector<float> values;  // [6, n]: true and false positives, true and false negatives, precision, recall
};
// A prediction p counts as positive at thresholds 0 to floor(p * (n - 1)), computed in double for f64 and in float for
// all other dtypes, as in TensorBoard; p below 0 or above 1 counts as 0 or 1. Labels: zero is false, everything else
// true. Fails if a view is invalid or complex, the sizes differ, a prediction is NaN, or n is not in 2 to 1,000,000.
Result<PrCurve> pr_curve(const TensorView& labels, const TensorView& predictions, int thresholds);
void put_pr_curve(std::string& summary, std::string_view tag, const PrCurve& curve, bool with_metadata);

// A mesh is up to three values, under separate tags.
enum class MeshPart : std::uint8_t { vertices = 1, faces = 2, colors = 3 };
// "<name>_VERTEX", "<name>_FACE", "<name>_COLOR".
std::string mesh_tag(std::string_view name, MeshPart part);
// Appends one part; the data become float, int32 or uint8 as the part requires. `options` say which other parts the
// mesh has. Fails, and appends nothing, if the view is invalid or not [n,3] or [batch,n,3].
Status put_mesh_part(std::string& summary, std::string_view name, MeshPart part, const TensorView& data,
                     const MeshOptions& options, bool with_metadata);

inline constexpr std::string_view kCustomScalarsTag = "custom_scalars__config__";
// Fails, and appends nothing, if a margin chart's tags are not triples of value, lower and upper.
Status put_custom_scalars(std::string& summary, std::span<const ChartCategory> layout, bool with_metadata);

// Hyper-parameters: experiment and session start when the run begins, session end when it is over. Their metadata are
// the data, so they always carry them; each tag appears once in a file.
inline constexpr std::string_view kHParamsExperimentTag = "_hparams_/experiment";
inline constexpr std::string_view kHParamsSessionStartTag = "_hparams_/session_start_info";
inline constexpr std::string_view kHParamsSessionEndTag = "_hparams_/session_end_info";
enum class SessionStatus : std::uint8_t { unknown = 0, success = 1, failure = 2, running = 3 };
void put_hparams_experiment(std::string& summary, const HParams& hparams, double created);
void put_hparams_session_start(std::string& summary, const HParams& hparams, double started);
void put_hparams_session_end(std::string& summary, SessionStatus status, double ended);

// How a value is passed to a plugin; `unknown` leaves it to the reader, which knows the plugins of TensorBoard.
enum class DataClass : std::uint8_t { unknown = 0, scalar = 1, tensor = 2, blob_sequence = 3 };
// Any tensor, for any plugin. Fails, and appends nothing, if the view is invalid or too large for a protobuf (2 GiB).
Status put_tensor(std::string& summary, std::string_view tag, const TensorView& tensor, std::string_view plugin_name,
                  std::string_view plugin_content, DataClass data_class, bool with_metadata);

}  // namespace sonde::tfevents
