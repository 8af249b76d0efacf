// The outputs of layers as files, below one folder that appears when all of them are complete.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::cli {

struct SaveRequest {
  std::string folder;
  std::string format = "npy";  // npy, npz, safetensors, png, csv, tfevents
  bool channels_last = false;  // how the model orders the axes of pictures
  std::int64_t cells = 64;     // of a picture
  bool several = false;        // several passes: each gets a folder or a file of its own
};

// One pass at a time: `begin`, the layers in order, `end`. `finish` moves the folder to its place; without it nothing
// is left on the disk.
class LayerFiles {
 public:
  virtual ~LayerFiles() = default;
  LayerFiles(const LayerFiles&) = delete;
  LayerFiles& operator=(const LayerFiles&) = delete;

  // Fails if the folder exists and is not empty.
  static Result<std::unique_ptr<LayerFiles>> create(const SaveRequest& request);

  void begin(const std::string& pass) {
    pass_ = pass;
    begin_pass();
  }
  // The output has a tensor, which is copied unless the runtime keeps it until the next pass.
  virtual Status add(const inspect::Output& output) = 0;
  virtual Status end() { return Status::success(); }
  Status finish();

 protected:
  explicit LayerFiles(SaveRequest request);
  virtual void begin_pass() {}
  virtual Status close() { return Status::success(); }
  // Where a layer's file belongs; makes the directories above it.
  Result<std::string> path_of(const std::string& name, const std::string& extension);

  const SaveRequest& request() const noexcept { return request_; }
  const std::string& pass() const noexcept { return pass_; }
  const std::string& temporary() const noexcept { return temporary_; }

 private:
  struct Folder;
  SaveRequest request_;
  std::string temporary_;
  std::string pass_;
  std::shared_ptr<Folder> folder_;
};

}  // namespace sonde::cli
