#include "formats/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/file_testing.h"

namespace sonde::npz {
namespace {

using testing::all_dtypes;
using testing::corpus_file;
using ::testing::ElementsAre;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::random_tensor;
using testing::values_of;

class NpzOfNumPy : public ::testing::TestWithParam<const char*> {};

TEST_P(NpzOfNumPy, IsReadStoredDeflatedAndWithZip64Fields) {
  const std::string archive = corpus_file(GetParam());
  const auto entries = parse(base::as_bytes(archive));
  ASSERT_TRUE(entries) << entries.error().message();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ(entries->at(0).name, "a");
  EXPECT_EQ(entries->at(1).name, "layer/größe");
  const auto a = decode(entries->at(0));
  ASSERT_TRUE(a) << a.error().message();
  EXPECT_THAT(values_of<std::int16_t>(*a), ElementsAre(0, 1, 2));
  const auto b = decode(entries->at(1));
  ASSERT_TRUE(b) << b.error().message();
  EXPECT_EQ(b->shape, (Shape{1, 1}));
  EXPECT_THAT(values_of<float>(*b), ElementsAre(0.5F));
}

TEST_P(NpzOfNumPy, SurvivesEveryDamageOfOneByteAndEveryTruncation) {
  const std::string archive = corpus_file(GetParam());
  std::vector<std::vector<std::byte>> right;
  const auto undamaged = parse(base::as_bytes(archive));
  ASSERT_TRUE(undamaged);
  for (const Entry& entry : *undamaged) right.push_back(decode(entry)->data);
  testing::for_each_damage(archive, [&](base::Bytes damaged) {
    const auto entries = parse(damaged);
    if (!entries) return;
    for (const Entry& entry : *entries) {
      const auto decoded = decode(entry);
      if (!decoded) continue;
      EXPECT_THAT(right, ::testing::Contains(decoded->data)) << "in spite of the checksum";
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Npz, NpzOfNumPy, ::testing::Values("npz/stored.npz", "npz/deflated.npz", "npz/zip64.npz"));

TEST(NpzView, ReadsAStoredArrayInPlaceAndRejectsACompressedOne) {
  const std::string stored = corpus_file("npz/stored.npz");
  const auto entries = parse(base::as_bytes(stored));
  ASSERT_TRUE(entries);
  const auto in_place = view(entries->front());
  ASSERT_TRUE(in_place) << in_place.error().message();
  EXPECT_GE(in_place->data, stored.data());
  EXPECT_LT(in_place->data, stored.data() + stored.size());
  expect_same(*in_place, decode(entries->front())->view());

  const std::string deflated = corpus_file("npz/deflated.npz");
  EXPECT_EQ(view(parse(base::as_bytes(deflated))->front()).status().code(), Code::unsupported);
}

TEST(NpzWrite, GivesBackEveryDTypeStoredAndDeflated) {
  std::mt19937 random(5);
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  for (DType dtype : all_dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{0, 2}, Shape{30, 7}}) {
      names.push_back("größe/" + std::to_string(names.size()));
      tensors.push_back(random_tensor(random, dtype, shape));
    }
  }
  std::vector<NamedView> named;
  for (std::size_t i = 0; i < names.size(); ++i) named.push_back({names[i], tensors[i].view()});
  for (Method method : {Method::stored, Method::deflated}) {
    const auto archive = encode(named, method);
    ASSERT_TRUE(archive) << archive.error().message();
    const auto entries = parse(base::as_bytes(*archive));
    ASSERT_TRUE(entries) << entries.error().message();
    ASSERT_EQ(entries->size(), named.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(entries->at(i).name, names[i]);
      const auto decoded = decode(entries->at(i));
      ASSERT_TRUE(decoded) << decoded.error().message();
      expect_same(decoded->view(), tensors[i].view());
    }
  }
}

TEST(NpzWrite, KeepsColumnMajorAndStridedTensorsRight) {
  std::vector<std::int32_t> values(400'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  const NamedView named[] = {{"columns", sonde::view(values.data(), {400, 1000}, {1, 400})},
                             {"every third", sonde::view(values.data(), {100, 1000}, {4000, 3})},
                             {"backwards", sonde::view(values.data() + 399'999, {400'000}, {-1})}};
  const auto archive = encode(named);
  ASSERT_TRUE(archive);
  const auto entries = parse(base::as_bytes(*archive));
  ASSERT_TRUE(entries);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto decoded = decode(entries->at(i));
    ASSERT_TRUE(decoded) << decoded.error().message();
    expect_same(decoded->view(), named[i].tensor);
  }
}

TEST(NpzWrite, WithoutArraysIsAnEmptyArchive) {
  const auto entries = parse(base::as_bytes(*encode({})));
  ASSERT_TRUE(entries) << entries.error().message();
  EXPECT_TRUE(entries->empty());
}

TEST(NpzWrite, RejectsNamesThatNumPyCouldNotReadBack) {
  Writer writer([](base::Bytes) { return Status::success(); });
  const float one = 1;
  const TensorView tensor = sonde::view(&one, {1});
  EXPECT_TRUE(writer.add("good", tensor));
  EXPECT_EQ(writer.add("good", tensor).code(), Code::invalid_argument);
  EXPECT_EQ(writer.add("", tensor).code(), Code::invalid_argument);
  EXPECT_EQ(writer.add("\xff", tensor).code(), Code::invalid_argument);
  EXPECT_EQ(writer.add(std::string_view("a\0b", 3), tensor).code(), Code::invalid_argument);
  EXPECT_EQ(writer.add(std::string(70'000, 'x'), tensor).code(), Code::invalid_argument);
  EXPECT_TRUE(writer.add(std::string(10'000, 'x') + "/\n", tensor));
  EXPECT_TRUE(writer.finish());
  EXPECT_EQ(writer.add("late", tensor).code(), Code::closed);
}

TEST(NpzWrite, StopsAtTheFirstErrorOfItsOutput) {
  int calls = 0;
  Writer writer([&](base::Bytes) { return ++calls < 2 ? Status::success() : Status(Code::no_space, "full"); });
  const float one = 1;
  EXPECT_EQ(writer.add("a", sonde::view(&one, {1})).code(), Code::no_space);
  EXPECT_EQ(writer.add("b", sonde::view(&one, {1})).code(), Code::no_space);
  EXPECT_EQ(writer.finish().code(), Code::no_space);
  EXPECT_EQ(calls, 2);
}

TEST(NpzWrite, CountsMoreThan65535ArraysInZip64) {
  const std::int8_t value = 7;
  std::vector<std::string> names;
  for (int i = 0; i < 70'000; ++i) names.push_back(std::to_string(i));
  std::vector<NamedView> named;
  for (const std::string& name : names) named.push_back({name, sonde::view(&value, {})});
  const auto archive = encode(named);
  ASSERT_TRUE(archive);
  const auto entries = parse(base::as_bytes(*archive));
  ASSERT_TRUE(entries) << entries.error().message();
  EXPECT_EQ(entries->size(), names.size());
  EXPECT_EQ(entries->back().name, "69999");
  EXPECT_TRUE(decode(entries->back()));
}

TEST(NpzRead, ChecksTheChecksum) {
  std::string archive = corpus_file("npz/stored.npz");
  archive[archive.find("\n") + 1] ^= 1;  // the first element of the first array
  const auto entries = parse(base::as_bytes(archive));
  ASSERT_TRUE(entries);
  const auto damaged = decode(entries->front());
  EXPECT_EQ(damaged.status().code(), Code::corrupt);
  EXPECT_THAT(damaged.error().message(), HasSubstr("'a'"));
}

TEST(NpzRead, SaysWhichWayOfPackingIsUnsupported) {
  std::string archive = corpus_file("npz/stored.npz");
  const std::size_t central = archive.find("PK\1\2");
  archive[central + 10] = 12;  // bzip2
  EXPECT_EQ(parse(base::as_bytes(archive)).status().code(), Code::unsupported);
  archive[central + 10] = 0;
  archive[central + 8] = 1;  // encrypted
  EXPECT_EQ(parse(base::as_bytes(archive)).status().code(), Code::unsupported);
}

TEST(NpzRead, FindsTheDirectoryBeforeAComment) {
  std::string archive = corpus_file("npz/stored.npz");
  archive[archive.size() - 2] = 5;
  archive += "hello";
  EXPECT_TRUE(parse(base::as_bytes(archive)));
}

TEST(NpzRead, SkipsFolders) {
  std::string archive = corpus_file("npz/stored.npz");
  for (std::size_t at = archive.find("a.npy"); at != std::string::npos; at = archive.find("a.npy", at + 1)) {
    archive.replace(at, 5, "a.np/");
  }
  const auto entries = parse(base::as_bytes(archive));
  ASSERT_TRUE(entries) << entries.error().message();
  EXPECT_EQ(entries->size(), 1u);
}

}  // namespace
}  // namespace sonde::npz
