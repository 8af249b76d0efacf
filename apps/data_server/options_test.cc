#include "options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::data_server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Options parsed(const std::vector<std::string>& arguments) {
  Options options;
  const Status status = parse(arguments, options);
  EXPECT_TRUE(status.ok()) << status.message();
  return options;
}

std::string complaint(const std::vector<std::string>& arguments) {
  Options options;
  return parse(arguments, options).message();
}

TEST(DataServerOptions, AcceptsTensorBoardsArguments) {
  const Options options =
      parsed({"--logdir=logs/a=b", "--reload=5", "--samples-per-plugin=scalars=500,images=all", "--port=0",
              "--port-file=p", "--die-after-stdin", "--error-file=e", "--verbose", "--verbose"});
  EXPECT_EQ(options.logdir, "logs/a=b");
  EXPECT_TRUE(options.follow);
  EXPECT_THAT(options.unlimited, ElementsAre("images"));
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.port_file, "p");
  EXPECT_EQ(options.error_file, "e");
  EXPECT_TRUE(options.die_after_stdin);
  EXPECT_EQ(options.verbosity, 2);
}

TEST(DataServerOptions, ListensOnLoopbackByDefault) {
  EXPECT_EQ(parsed({"--logdir", "x"}).host, "127.0.0.1");
  EXPECT_EQ(parsed({"--logdir", "x", "--host", "0.0.0.0"}).host, "0.0.0.0");
}

TEST(DataServerOptions, TakesAnEmptyListOfSamples) {
  EXPECT_TRUE(parsed({"--logdir=x", "--samples-per-plugin="}).unlimited.empty());
}

TEST(DataServerOptions, ReadsOnceIfRequested) { EXPECT_FALSE(parsed({"--logdir=x", "--reload=once"}).follow); }

TEST(DataServerOptions, ReportsErrorsInOneSentence) {
  EXPECT_EQ(complaint({}), "--logdir is missing: name the log directory");
  EXPECT_EQ(complaint({"--logdir=x", "--speed=9"}), "there is no option '--speed'; see 'sonde-data-server --help'");
  EXPECT_EQ(complaint({"logs"}), "there is no option 'logs'; see 'sonde-data-server --help'");
  EXPECT_EQ(complaint({"--logdir"}), "the option '--logdir' needs a value");
  EXPECT_EQ(complaint({"--logdir=x", "--die-after-stdin=1"}), "the option '--die-after-stdin' takes no value");
  EXPECT_THAT(complaint({"--logdir=x", "--reload=soon"}), HasSubstr("a number of seconds or 'once'"));
  EXPECT_THAT(complaint({"--logdir=x", "--port=65536"}), HasSubstr("up to 65535"));
  EXPECT_THAT(complaint({"--logdir=x", "--port=-1"}), HasSubstr("up to 65535"));
  for (const char* samples : {"scalars", "=5", "scalars=", "scalars=some", "scalars=-1", "scalars=1,,images=2"}) {
    EXPECT_THAT(complaint({"--logdir=x", std::string("--samples-per-plugin=") + samples}), HasSubstr("a list like"));
  }
}

TEST(DataServerOptions, KnowsTheErrorFileAlthoughSomethingBeforeItIsWrong) {
  Options options;
  EXPECT_FALSE(parse({"--what", "--logdir=x", "--error-file=e"}, options).ok());
  EXPECT_EQ(options.error_file, "e");
}

}  // namespace
}  // namespace sonde::data_server
