#include "base/shared_library.h"

#include <gtest/gtest.h>

#include "base/directory.h"

namespace sonde::base {
namespace {

TEST(SharedLibrary, GivesTheFunctionsOfALibrary) {
  const auto library = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().message();
  const auto found = library->find("hypot");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(reinterpret_cast<double (*)(double, double)>(*found)(3, 4), 5);
}

TEST(SharedLibrary, NamesAMissingFunction) {
  const auto library = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(library.ok());
  const auto found = library->find("no_such_function");
  EXPECT_EQ(found.status().code(), Code::not_found);
  EXPECT_EQ(found.status().message(), "'libm.so.6' has no function no_such_function");
}

TEST(SharedLibrary, NamesAMissingFile) {
  const auto library = SharedLibrary::open("/nowhere/libnothing.so");
  EXPECT_EQ(library.status().code(), Code::not_found);
  EXPECT_NE(library.status().message().find("/nowhere/libnothing.so"), std::string::npos);
}

TEST(SharedLibrary, KnowsTheDirectoryOfTheProgram) {
  const auto program = real_path("/proc/self/exe");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(directory_of_this_code(), program->substr(0, program->rfind('/')));
}

}  // namespace
}  // namespace sonde::base
