// The client of the worker process, with shell scripts in the place of Python. The worker itself is tested in
// python/tests/test_worker.py.
#include "inspect/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/safetensors.h"
#include "inspect/worker_process.h"

namespace sonde::inspect {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHello = R"(echo '{"hello": 1, "sonde": "0.5.0", "interpreter": "/fake/python"}'
)";
constexpr std::string_view kOpen =
    R"(read request; echo "$request" >> requests
echo '{"done": {"model": 7, "info": {"name": "keras", "version": "3.1", "precision": "f32", "settings": "none"}, "description": {"format": "keras", "inputs": [{"name": "x", "type": "f32", "shape": [-1, 2]}], "outputs": [{"name": "y", "type": "f32", "shape": [2]}], "layers": [{"name": "a", "type": "f32", "shape": [2], "op": "Dense", "node": "node_a"}, {"name": "b", "type": "f32", "shape": [2], "op": "Dense", "node": "node_b"}, {"name": "c", "type": "f32", "shape": [2], "op": "Dense"}]}}}'
)";
constexpr std::string_view kSelect = R"(read request; echo "$request" >> requests; echo '{"done": {}}'
)";

class Worker : public testing::Test {
 protected:
  void SetUp() override {
    const float values[] = {1, 2};
    const auto file = safetensors::encode(std::vector<safetensors::NamedView>{{"", view(values, {2})}});
    ASSERT_TRUE(file);
    size_ = file->size();
    ASSERT_TRUE(base::write_file(path("tensor"), *file));
    ASSERT_TRUE(base::write_file(path("not_a_tensor"), std::string(size_, 'x')));
  }
  void TearDown() override {
    ::unsetenv("SONDE_PYTHON");
    ::unsetenv("SONDE_WORKER_TIMEOUT");
  }

  std::string path(const std::string& name) const { return base::join_path(dir_.path(), name); }
  // A script that takes the place of the interpreter.
  void python(const std::string& script) {
    const std::string program = path("python");
    ASSERT_TRUE(base::write_file(program, "#!/bin/sh\ncd '" + std::string(dir_.path()) + "'\n" + script));
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    ::setenv("SONDE_PYTHON", program.c_str(), 1);
  }
  static Result<std::unique_ptr<Runtime>> open(const OpenOptions& options = {}) {
    return open_in_worker({"model.keras", "keras"}, options);
  }
  // The answer to a run: `line` for layers and results, each with the bytes of a file after it.
  std::string run_script(const std::string& answers) const {
    return "read request; echo \"$request\" >> requests; head -c " + std::to_string(input_bytes()) + " > input\n" +
           answers + "echo '{\"done\": {}}'\n";
  }
  std::string layer(int place, const std::string& file = "tensor") const {
    return "echo '{\"layer\": " + std::to_string(place) + ", \"bytes\": " + std::to_string(size_) + "}'; cat " + file +
           "\n";
  }
  std::size_t input_bytes() const { return safetensors::encode(named_input())->size(); }
  static std::vector<safetensors::NamedView> named_input() { return {{"x", view(kInput, {1, 2})}}; }
  static Status run(Runtime& runtime, const TakeOutput& take, const TakeResult& result = {}) {
    return runtime.run({{"x", view(kInput, {1, 2})}}, take, result);
  }

  static constexpr float kInput[] = {3, 4};
  base::TempDir dir_;
  std::size_t size_ = 0;
};

TEST_F(Worker, OpensSelectsRunsAndCloses) {
  python(std::string(kHello) + std::string(kOpen) + std::string(kSelect) +
         run_script(layer(0) + "echo '{\"layer\": 1, \"missing\": \"folded\"}'\necho '{\"result\": \"y\", \"bytes\": " +
                    std::to_string(size_) + "}'; cat tensor\n"));
  const auto runtime = open({.precision = "f32", .signature = "first", .profile = true});
  ASSERT_TRUE(runtime) << runtime.error().message();
  EXPECT_EQ((*runtime)->info().name, "keras");
  EXPECT_EQ((*runtime)->info().interpreter, "/fake/python");
  EXPECT_EQ((*runtime)->info().settings, "none");
  EXPECT_EQ((*runtime)->description().path, "model.keras");
  ASSERT_TRUE((*runtime)->select({2, 0, 2}));
  std::vector<std::string> seen;
  const Status status = run(
      **runtime,
      [&](const Output& output) {
        seen.push_back(output.layer->value.name + (output.tensor ? "" : ": " + output.missing));
        if (output.tensor) {
          EXPECT_EQ(output.tensor->shape, Shape{2});
          EXPECT_EQ(static_cast<const float*>(output.tensor->data)[1], 2);
        }
        return Status::success();
      },
      [&](std::string_view name, const TensorView& tensor) {
        seen.push_back(std::string(name) + " " + std::string(to_string(tensor.dtype)));
        return Status::success();
      });
  ASSERT_TRUE(status) << status.message();
  EXPECT_THAT(seen, ElementsAre("a", "c: folded", "y f32"));
  const std::string requests = *base::read_file(path("requests"));
  EXPECT_THAT(requests, HasSubstr(R"("signature":"first","profile":true)"));
  EXPECT_THAT(requests, HasSubstr(R"({"call":"select","model":7,"layers":["a","c"]})"));
  EXPECT_EQ(*base::read_file(path("input")), *safetensors::encode(named_input()));
}

TEST_F(Worker, GivesTheErrorsOfTheRuntime) {
  python(std::string(kHello) +
         "read request; echo '{\"error\": {\"code\": \"unsupported\", \"message\": \"keras is not installed\"}}'\n");
  const auto runtime = open();
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error().code(), Code::unsupported);
  EXPECT_EQ(runtime.error().message(), "keras is not installed");
}

TEST_F(Worker, AnErrorOfTheCallerEndsTheRunButNotTheWorker) {
  python(std::string(kHello) + std::string(kOpen) + std::string(kSelect) + run_script(layer(0) + layer(1)) +
         run_script(layer(0) + layer(1)));
  const auto runtime = open();
  ASSERT_TRUE(runtime);
  ASSERT_TRUE((*runtime)->select({0, 1}));
  int calls = 0;
  const Status full = run(**runtime, [&](const Output&) {
    ++calls;
    return Status(Code::no_space, "the disk is full");
  });
  EXPECT_EQ(full.code(), Code::no_space);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(run(**runtime, {}));
}

TEST_F(Worker, NamesAWorkerThatDiesWithItsLastWords) {
  python(std::string(kHello) + std::string(kOpen) + "read request; echo 'Aborted: bad weights' >&2; kill -ABRT $$\n");
  const auto runtime = open();
  ASSERT_TRUE(runtime);
  const Status status = (*runtime)->select({0});
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("/fake/python"), HasSubstr("model.keras"), HasSubstr("SIGABRT"),
                                      HasSubstr("its last words: Aborted: bad weights")));
  EXPECT_THAT((*runtime)->select({0}).message(), HasSubstr("has ended before"));
}

TEST_F(Worker, NamesAWorkerThatHangs) {
  python(std::string(kHello) + std::string(kOpen) + "read request; echo 'waiting for a lock' >&2; sleep 600\n");
  ::setenv("SONDE_WORKER_TIMEOUT", "2", 1);
  const auto runtime = open();
  ASSERT_TRUE(runtime) << runtime.error().message();
  const Status status = (*runtime)->select({0});
  EXPECT_EQ(status.code(), Code::exhausted);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("it did nothing for 2 s"), HasSubstr("waiting for a lock")));
}

TEST_F(Worker, NamesAWorkerThatPrintsGarbage) {
  python(std::string(kHello) + std::string(kOpen) + "read request; echo 'Loading 3 of 7 ...'; read request\n");
  const auto runtime = open();
  ASSERT_TRUE(runtime);
  EXPECT_THAT((*runtime)->select({0}).message(), HasSubstr("it is not JSON: 'Loading 3 of 7 ...'"));
}

TEST_F(Worker, RejectsATensorThatIsNone) {
  python(std::string(kHello) + std::string(kOpen) + std::string(kSelect) + run_script(layer(0, "not_a_tensor")));
  const auto runtime = open();
  ASSERT_TRUE(runtime);
  ASSERT_TRUE((*runtime)->select({0}));
  EXPECT_EQ(run(**runtime, {}).code(), Code::corrupt);
}

TEST_F(Worker, RejectsALayerThatWasNotSelected) {
  python(std::string(kHello) + std::string(kOpen) + std::string(kSelect) + run_script(layer(5)));
  const auto runtime = open();
  ASSERT_TRUE(runtime);
  ASSERT_TRUE((*runtime)->select({0}));
  EXPECT_EQ(run(**runtime, {}).code(), Code::corrupt);
  EXPECT_EQ((*runtime)->select({3}).code(), Code::not_found);
}

TEST_F(Worker, FindsTheLayersOfTimesByTheirOperations) {
  python(
      std::string(kHello) + std::string(kOpen) +
      R"(read request; echo '{"done": {"times": [{"node": "node_b", "name": "b", "nanoseconds": 5}, {"layer": "c", "name": "c", "nanoseconds": 6}, {"name": "other", "nanoseconds": 7}]}}'
)");
  const auto runtime = open();
  ASSERT_TRUE(runtime);
  const auto times = (*runtime)->times();
  ASSERT_TRUE(times);
  EXPECT_EQ(times->at(0).layer, 1);
  EXPECT_EQ(times->at(1).layer, 2);
  EXPECT_EQ(times->at(2).layer, -1);
}

TEST_F(Worker, ReportsAPackageThatIsMissing) {
  python(
      "echo '/usr/bin/python3: Error while finding module specification: No module named '\"'sonde'\" >&2; exit 1\n");
  const auto runtime = open();
  ASSERT_FALSE(runtime);
  EXPECT_THAT(runtime.error().message(), AllOf(HasSubstr("has no Python package sonde"), HasSubstr("SONDE_PYTHON")));
}

TEST_F(Worker, ReportsAPackageOfAnotherVersion) {
  python("echo '{\"hello\": 99, \"sonde\": \"7.0\", \"interpreter\": \"/fake/python\"}'; read request\n");
  const auto runtime = open();
  ASSERT_FALSE(runtime);
  EXPECT_THAT(runtime.error().message(), HasSubstr("is version 7.0, which does not fit this program"));
}

TEST_F(Worker, ReportsAnInterpreterThatIsMissing) {
  ::setenv("SONDE_PYTHON", "/no/such/python", 1);
  const auto runtime = open();
  ASSERT_FALSE(runtime);
  EXPECT_THAT(runtime.error().message(), AllOf(HasSubstr("cannot start '/no/such/python'"), HasSubstr("SONDE_PYTHON")));
}

TEST_F(Worker, IsSharedByTheModelsOfARuntime) {
  python("echo start >> starts\n" + std::string(kHello) + std::string(kOpen) + std::string(kOpen) +
         std::string(kSelect) + std::string(kSelect));
  auto first = open();
  ASSERT_TRUE(first);
  auto second = open();
  ASSERT_TRUE(second);
  EXPECT_EQ(*base::read_file(path("starts")), "start\n");
  first->reset();  // closes one model, and leaves the other
  EXPECT_TRUE((*second)->select({0}));
  EXPECT_THAT(*base::read_file(path("requests")), HasSubstr(R"("call":"close")"));
}

TEST(WorkerRuntime, IsChosenByTheNameOfTheFile) {
  EXPECT_EQ(worker_runtime_of("a/model.keras"), "keras");
  EXPECT_EQ(worker_runtime_of("model.h5"), "keras");
  EXPECT_EQ(worker_runtime_of("model.pt2"), "torch");
  EXPECT_EQ(worker_runtime_of("model.onnx"), "");
  EXPECT_TRUE(runs_in_worker("onnxruntime"));
  EXPECT_FALSE(runs_in_worker("openvino"));
}

}  // namespace
}  // namespace sonde::inspect
