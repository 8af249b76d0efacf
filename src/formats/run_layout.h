// The layout of a run's directory: the names of the files and folders in it. Names only; nothing is opened here.
//
//   events.out.tfevents.<writer><suffix>            what TensorBoard reads
//   stats.<writer><suffix>.tfrecord                 statistics of tensors, one record per step
//   tensors/[eval-]<step>.<writer>.safetensors      whole tensors; also .npz, and a folder with .npy files
//   tables/<name>.<writer>.csv
//   checkpoints/<name>-<step>.safetensors
//   captures/<n>-<reason>/capture.json              and one safetensors file per step
//   flight-<host>-<pid>-<k>.ring                    the flight recorder
//   flight-<writer>.elsewhere                       paths of rings in other directories
//   control.toml, control.state                     a policy for the running job, and the job's answer
//   note.md                                         a note written on the page
//
// A writer is "<seconds>.<host>.<pid>.<n>".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::run_layout {

inline constexpr std::string_view kTensors = "tensors";
inline constexpr std::string_view kTables = "tables";
inline constexpr std::string_view kCheckpoints = "checkpoints";
inline constexpr std::string_view kCaptures = "captures";

inline constexpr std::string_view kCaptureFile = "capture.json";  // in the directory of a capture
inline constexpr std::string_view kControl = "control.toml";
inline constexpr std::string_view kControlState = "control.state";
inline constexpr std::string_view kNote = "note.md";

// In a log directory: where deleted runs go. It is never read.
inline constexpr std::string_view kTrash = ".sonde-trash";

inline constexpr std::string_view kEventsFormat = "tfevents";  // what people call the format of event files
inline constexpr std::string_view kSafetensors = ".safetensors";
inline constexpr std::string_view kNpz = ".npz";
inline constexpr std::string_view kNpy = ".npy";
inline constexpr std::string_view kCsv = ".csv";
inline constexpr std::string_view kRing = ".ring";

// One of the four folders above.
bool is_folder(std::string_view name) noexcept;

std::string event_file(std::string_view writer, std::string_view suffix);
// TensorBoard's rule: any name that contains "tfevents".
bool is_event_file(std::string_view name) noexcept;
// Whether it is the event file of this writer; "x.1" did not write the files of "x.10".
bool is_event_file_of(std::string_view name, std::string_view writer) noexcept;

std::string statistics_file(std::string_view writer, std::string_view suffix);
bool is_statistics_file(std::string_view name) noexcept;

// The common part of the names of a writer's event file and statistics file: writer and suffix. Other names are
// returned unchanged.
std::string_view writer_of(std::string_view name) noexcept;

// The prefix of the names of a process's rings, up to <k>.
std::string ring_prefix(std::string_view host, std::uint64_t pid);
bool is_ring(std::string_view name) noexcept;
// The host in the name of a ring; empty for other names.
std::optional<std::string_view> host_of_ring(std::string_view name) noexcept;
// Whether the path of an open file is that of a ring: it has the name under which the file was created.
bool mentions_ring(std::string_view path) noexcept;

std::string external_rings_file(std::string_view writer);
bool is_external_rings_file(std::string_view name) noexcept;

// The prefix of the names of a step's whole tensors: "eval-000000000012.<writer>".
std::string tensors_stem(std::int64_t step, bool evaluation, std::string_view writer);
// The step in such a name; empty for other names.
std::optional<std::int64_t> step_of_tensors(std::string_view name) noexcept;

// Any file that a recorder, the command or the page creates directly in a run's directory.
bool is_file_of_run(std::string_view name) noexcept;

}  // namespace sonde::run_layout
