// sonde data-server-path: prints the path of the data server for TensorBoard.
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "subcommand.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

class DataServerPath final : public Subcommand {
 public:
  DataServerPath()
      : Subcommand(
            {.name = "data-server-path",
             .usage = "data-server-path",
             .summary = "print the path of TensorBoard's data server",
             .details = "The program behind TensorBoard's own pages: it reads a log faster than TensorBoard does, and\n"
                        "drops nothing. TensorBoard starts and ends it by itself.",
             .examples = {"TENSORBOARD_DATA_SERVER_BINARY=$(sonde data-server-path) tensorboard --load_fast=true "
                          "--logdir logs"}}) {}

  void setup(Flags&) override {}

  int run() override {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    if (error) return fail("cannot find the path of this program: " + error.message());
    const fs::path folder = own.parent_path();
    // In a build folder next to this program; installed, in the directory for programs that people do not start
    // themselves.
    const std::array places = {folder / "sonde-data-server",
                               folder.parent_path() / "libexec" / "sonde" / "sonde-data-server"};
    for (const fs::path& place : places) {
      if (!fs::is_regular_file(place, error)) continue;
      print(place.string() + "\n");
      return kSuccess;
    }
    return fail("there is no sonde-data-server at '" + places[0].string() + "' or '" + places[1].string() +
                "': Sonde was built without it (-DSONDE_DATA_SERVER=ON needs gRPC)");
  }
};

}  // namespace

std::unique_ptr<Subcommand> make_data_server_path_command() { return std::make_unique<DataServerPath>(); }

}  // namespace sonde::cli
