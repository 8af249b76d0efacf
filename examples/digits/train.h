// Trains the network on the digits and records, with Sonde's public interface alone, everything that a person may want
// to see of it (recording.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "digits/network.h"
#include "sonde/sonde.h"

namespace digits {

// What goes wrong in the middle of training, each in a way in which it happens to real programs.
enum class Fault : std::uint8_t {
  none,
  nan,      // a layer divides by zero
  explode,  // a layer learns faster and faster
  dead,     // a bias silences all ReLUs of a layer
};

struct Progress {
  std::int64_t done = 0;  // steps
  bool last = false;      // there are no more
  Score train = {};       // of the last batch
  Score test = {};        // of the last pass over the held-out digits
};

struct TrainOptions {
  std::string directory;  // gets the runs "train" and "test"
  std::int64_t steps = 1000;
  std::uint64_t seed = 1;
  Fault fault = Fault::none;                         // begins at half of the steps; training ends soon after it
  std::function<void(const Progress&)> on_progress;  // after every step, on the thread that called train
};

struct Outcome {
  Score test = {};                   // of the last pass; with a fault that before it began
  std::int64_t steps = 0;            // trained
  std::int64_t fault_step = -1;      // at which the fault began; -1: there is none
  std::string train_directory = {};  // of the run "train", which has the captures
  double seconds = 0;                // of it all, until the last record was on disk
  double recording_seconds = 0;      // thereof spent in calls to Sonde, closing included
  double backend_seconds = 0;        // processor time of Sonde's own thread, beside that
  std::uint64_t bytes_written = 0;
  std::uint64_t dropped = 0;    // records lost, for whatever reason
  sonde::Status recorded = {};  // what went wrong while recording, if anything did: training continues without it
};

// Fails, before it trains, where the directory cannot be written.
sonde::Result<Outcome> train(const TrainOptions& options);

}  // namespace digits
