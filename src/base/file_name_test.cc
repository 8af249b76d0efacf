#include "base/file_name.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/temp_dir_testing.h"
#include "base/utf8.h"

namespace sonde::base {
namespace {

TEST(FilePathOf, LeavesOrdinaryTagsAsTheyAre) {
  EXPECT_EQ(file_path_of("gradient/dense_1/out#1", ".npy"), "gradient/dense_1/out#1.npy");
  EXPECT_EQ(file_path_of("größe (m²) +1-2=3", ".npy"), "größe (m²) +1-2=3.npy");
  EXPECT_EQ(file_path_of("a.b", ""), "a.b");
}

TEST(FilePathOf, EscapesSpecialCharacters) {
  EXPECT_EQ(file_path_of("a:b\\c*?\"<>|%", ".npy"), "a%3Ab%5Cc%2A%3F%22%3C%3E%7C%25.npy");
  EXPECT_EQ(file_path_of(std::string_view("a\n\0\x7f", 4), ""), "a%0A%00%7F");
  EXPECT_EQ(file_path_of("a\xc2\x85", ""), "a%C2%85");  // U+0085, a control character beyond ASCII
  EXPECT_EQ(file_path_of("ä\xff", ""), "%C3%A4%FF") << "not UTF-8: no byte of it is trusted";
}

TEST(FilePathOf, StaysBelowItsDirectory) {
  EXPECT_EQ(file_path_of("../../etc/passwd", ""), "%2E./%2E./etc/passwd");
  EXPECT_EQ(file_path_of("./a/.hidden", ""), "%2E/a/%2Ehidden");
  EXPECT_EQ(file_path_of("/root//a/", ".npy"), "%/root/%/a/%.npy");
  EXPECT_EQ(file_path_of("", ".npy"), "%.npy");
}

TEST(FilePathOf, TruncatesLongPartsBetweenCharactersAndKeepsThemDifferent) {
  const std::string head(250, 'x');
  const std::string one = file_path_of(head + "1", ".npy");
  EXPECT_EQ(one.size(), 200U + 4);
  EXPECT_NE(one, file_path_of(head + "2", ".npy"));
  EXPECT_EQ(file_path_of(std::string(200, 'x'), ""), std::string(200, 'x'));
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "€";
  EXPECT_EQ(valid_utf8(file_path_of(wide, "")), file_path_of(wide, ""));
  EXPECT_LE(file_path_of(wide, "").size(), 200U);
  EXPECT_LE(file_path_of(std::string(150, ':'), "").size(), 200U);
}

TEST(FilePathOf, NeedsNoDirectoryWhereAFileIs) {
  EXPECT_EQ(file_path_of("a", ".npy"), "a.npy");
  EXPECT_EQ(file_path_of("a.npy/b", ".npy"), "a%2Enpy/b.npy");
}

TEST(TextOfFilePath, UndoesIt) {
  for (const char* text : {"gradient/dense_1/out#1", "größe (m²)", "a:b\\c*?\"<>|%", "../../etc/passwd", "/root//a/",
                           "", "a.npy/b", "%2E", "%~", "ä\xff", "100%"}) {
    EXPECT_EQ(text_of_file_path(file_path_of(text, ".npy"), ".npy"), text);
  }
  const std::string cut = file_path_of("a/" + std::string(250, 'x'), "");
  EXPECT_EQ(text_of_file_path(cut, ""), cut);
}

// Texts of the characters that matter, so short that they often differ in one of them only.
TEST(FilePathOf, GivesEveryTextAUniqueUsablePath) {
  const std::vector<std::string> pieces = {"a",  ".",   "/",  "%",  "~",    "2E", "25",   ":", ".npy",
                                           "..", "%2E", "\n", "\\", "\xff", "€",  "\xc3", "A", std::string(190, 'b')};
  std::mt19937 random(5);
  std::map<std::string, std::string> text_of;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 6; n > 0; --n) text += pieces[random() % pieces.size()];
    const std::string path = file_path_of(text, ".npy");
    const auto [known, first] = text_of.try_emplace(path, text);
    ASSERT_EQ(known->second, text) << path;
    std::string_view rest = path;
    for (;;) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      ASSERT_TRUE(!part.empty() && part[0] != '.' && part.size() <= 206) << path;
      if (part.size() == rest.size()) break;
      rest.remove_prefix(part.size() + 1);
    }
  }
  // No file where another path has a directory.
  for (const auto& [path, text] : text_of) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      ASSERT_FALSE(text_of.contains(path.substr(0, slash))) << path;
    }
  }
}

TEST(FilePathOf, IsTakenByTheFileSystem) {
  TempDir dir;
  for (const std::string& text : {std::string("../a"), std::string("/"), std::string(1000, ':'), std::string("a\0b", 3),
                                  std::string("a"), std::string("a.npy/b"), std::string("\xff\xfe")}) {
    const std::string path = dir / file_path_of(text, ".npy");
    ASSERT_TRUE(make_directories(path.substr(0, path.rfind('/'))).ok());
    ASSERT_TRUE(write_file(path, text).ok());
    EXPECT_EQ(*read_file(path), text);
  }
}

}  // namespace
}  // namespace sonde::base
