#include "sonde/tensor_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "formats/file_testing.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "tensor/copy.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

class TensorIo : public ::testing::Test {
 public:
  TensorIo() {
    std::string name = (std::filesystem::temp_directory_path() / "sonde-tensor-io-XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~TensorIo() override { std::filesystem::remove_all(dir_); }

 protected:
  std::string path(std::string_view name) const { return base::join_path(dir_, name); }
  std::string written(std::string_view name, std::string_view bytes) const {
    EXPECT_TRUE(base::write_file(path(name), bytes).ok());
    return path(name);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) names.push_back(entry.path().filename());
    return names;
  }

  // One tensor of every type that safetensors knows, some of them empty, some scalars.
  std::vector<NamedTensor> every_type() {
    std::vector<NamedTensor> tensors;
    for (const DType dtype : testing::all_dtypes()) {
      if (dtype == DType::c128) continue;
      const std::string name(to_string(dtype));
      tensors.push_back({name + "/matrix", testing::random_tensor(random_, dtype, {3, 5})});
      tensors.push_back({name + "/empty", testing::random_tensor(random_, dtype, {2, 0, 4})});
      tensors.push_back({name + "/scalar", testing::random_tensor(random_, dtype, {})});
    }
    return tensors;
  }
  static std::vector<NamedView> views(const std::vector<NamedTensor>& tensors) {
    std::vector<NamedView> result;
    result.reserve(tensors.size());
    for (const NamedTensor& tensor : tensors) result.push_back(tensor.view());
    return result;
  }

  std::string dir_;
  std::mt19937 random_{3};
};

const NamedTensor* find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

// ---- Saving and loading

TEST_F(TensorIo, NpyKeepsEveryType) {
  for (const DType dtype : testing::all_dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{7}, Shape{2, 0, 3}, Shape{2, 3, 4}}) {
      const Tensor tensor = testing::random_tensor(random_, dtype, shape);
      ASSERT_TRUE(save_npy(path("a.npy"), tensor.view()).ok());
      const auto loaded = load_npy(path("a.npy"));
      ASSERT_TRUE(loaded.ok()) << loaded.error().message();
      testing::expect_same(loaded->view(), tensor.view());
    }
  }
}

TEST_F(TensorIo, NpzKeepsEveryTypeStoredAndCompressed) {
  const std::vector<NamedTensor> tensors = every_type();
  for (const Compression compression : {Compression::none, Compression::deflate}) {
    ASSERT_TRUE(save_npz(path("a.npz"), views(tensors), compression).ok());
    const auto loaded = load_npz(path("a.npz"));
    ASSERT_TRUE(loaded.ok()) << loaded.error().message();
    ASSERT_EQ(loaded->size(), tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ((*loaded)[i].name, tensors[i].name);
      testing::expect_same((*loaded)[i].tensor.view(), tensors[i].tensor.view());
    }
  }
}

TEST_F(TensorIo, SafetensorsKeepsEveryTypeAndTheMetadata) {
  const std::vector<NamedTensor> tensors = every_type();
  ASSERT_TRUE(save_safetensors(path("a.safetensors"), views(tensors), {{"epoch", "3"}, {"größe", ""}}).ok());
  const auto loaded = load_safetensors(path("a.safetensors"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_THAT(loaded->metadata, ElementsAre(Pair("epoch", "3"), Pair("größe", "")));
  ASSERT_EQ(loaded->tensors.size(), tensors.size());
  for (const NamedTensor& tensor : tensors) {
    const NamedTensor* found = find(loaded->tensors, tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    testing::expect_same(found->tensor.view(), tensor.tensor.view());
  }
}

TEST_F(TensorIo, FilesWithoutTensorsAreFiles) {
  ASSERT_TRUE(save_npz(path("a.npz"), {}).ok());
  ASSERT_TRUE(save_safetensors(path("a.safetensors"), {}).ok());
  EXPECT_THAT(*load_npz(path("a.npz")), IsEmpty());
  EXPECT_THAT(load_safetensors(path("a.safetensors"))->tensors, IsEmpty());
}

// Larger than the pieces that are written at a time, with rows that are larger, and smaller, than one.
TEST_F(TensorIo, StridedTensorsArriveInRowMajorOrder) {
  std::vector<std::int32_t> values(3 << 20);
  std::iota(values.begin(), values.end(), 0);
  const std::int64_t size = std::ssize(values);
  const TensorView strided[] = {
      view(values.data(), {3, size / 6, 2}, {2, 6, 1}),  // rows of 4 MiB that are between each other
      view(values.data(), {size / 2}, {2}),              // every second one
      view(values.data(), {size / 3, 3}, {-3, 1}),       // backwards, from the last row
      view(values.data(), {2, 2, size / 4}, {1, 2, 4}),
      view(values.data(), {1 << 10, 1 << 10}, {0, 1}),  // one row, many times
  };
  for (TensorView tensor : strided) {
    if (tensor.strides[0] < 0) tensor.data = values.data() + size - 3;
    ASSERT_TRUE(save_npy(path("a.npy"), tensor).ok());
    ASSERT_TRUE(save_npz(path("a.npz"), {{"a", tensor}}).ok());
    ASSERT_TRUE(save_safetensors(path("a.safetensors"), {{"a", tensor}}).ok());
    const Tensor expected = tensor::to_tensor(tensor);
    testing::expect_same(load_npy(path("a.npy"))->view(), expected.view());
    testing::expect_same(load_npz(path("a.npz"))->front().tensor.view(), expected.view());
    testing::expect_same(load_safetensors(path("a.safetensors"))->tensors.front().tensor.view(), expected.view());
  }
}

TEST_F(TensorIo, SavingReplacesTheFileAndLeavesNoPart) {
  const std::vector<float> ones(4, 1), twos(8, 2);
  ASSERT_TRUE(save_npy(path("a.npy"), view(ones)).ok());
  const auto before = TensorFile::open(path("a.npy"));
  ASSERT_TRUE(save_npy(path("a.npy"), view(twos)).ok());
  EXPECT_EQ(load_npy(path("a.npy"))->shape, Shape{8});
  testing::expect_same(*before->view(), view(ones));
  EXPECT_THAT(files(), ElementsAre("a.npy"));
}

// ---- Tensors that cannot be saved

TEST_F(TensorIo, RejectedTensorsKeepTheOldFile) {
  const std::vector<float> values(6);
  const std::vector<std::complex<double>> complex(1);
  const TensorView good = view(values), bad = view(values, {7});
  ASSERT_TRUE(save_npy(path("a"), good).ok());
  const std::string before = *base::read_file(path("a"));
  const Status refused[] = {
      save_npy(path("a"), bad),
      save_npz(path("a"), {{"x", good}, {"y", bad}}),
      save_npz(path("a"), {{"x", good}, {"x", good}}),
      save_npz(path("a"), {{"", good}}),
      save_safetensors(path("a"), {{"y", bad}}),
      save_safetensors(path("a"), {{"x", good}, {"x", good}}),
      save_safetensors(path("a"), {{"__metadata__", good}}),
      save_safetensors(path("a"), {{"x", good}}, {{"key", "1"}, {"key", "2"}}),
  };
  for (const Status& status : refused) {
    EXPECT_EQ(status.code(), Code::invalid_argument) << status.message();
    EXPECT_THAT(status.message(), StartsWith("cannot save '" + path("a") + "': "));
  }
  EXPECT_EQ(save_safetensors(path("a"), {{"x", view(complex)}}).code(), Code::unsupported);
  EXPECT_EQ(*base::read_file(path("a")), before);
  EXPECT_THAT(files(), ElementsAre("a"));
}

TEST_F(TensorIo, APlaceThatCannotBeWrittenIsOneSentence) {
  const std::vector<float> values(6);
  written("file", "in the way");
  for (const std::string& place : {path("missing/a"), path("file/a"), std::string("/proc/a"), dir_}) {
    for (const Status& status : {save_npy(place, view(values)), save_npz(place, {{"x", view(values)}}),
                                 save_safetensors(place, {{"x", view(values)}})}) {
      EXPECT_FALSE(status.ok()) << place;
      EXPECT_THAT(status.message(), HasSubstr(place));
    }
  }
  EXPECT_THAT(files(), ElementsAre("file"));
}

// ---- Files that cannot be loaded

TEST_F(TensorIo, AMissingFileIsNotFound) {
  EXPECT_EQ(load_npy(path("a.npy")).status().code(), Code::not_found);
  EXPECT_EQ(load_npz(path("a.npz")).status().code(), Code::not_found);
  EXPECT_EQ(load_safetensors(path("a.safetensors")).status().code(), Code::not_found);
  EXPECT_THAT(TensorFile::open(path("a")).status().message(), HasSubstr("'" + path("a") + "': No such file"));
  EXPECT_FALSE(TensorFile::open(dir_).ok());
}

TEST_F(TensorIo, AFileOfAnotherFormatIsNamed) {
  const std::vector<float> values(6);
  ASSERT_TRUE(save_npz(path("a.npy"), {{"x", view(values)}}).ok());
  const Status status = load_npy(path("a.npy")).status();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_EQ(status.message(), "'" + path("a.npy") + "' has the format npz, not npy");
  EXPECT_FALSE(load_safetensors(path("a.npy")).ok());
  EXPECT_TRUE(load_npz(path("a.npy")).ok()) << "the content counts, not the name";

  EXPECT_EQ(TensorFile::open(written("a.txt", "hello, world")).status().message(),
            "'" + path("a.txt") + "' is not an npy, npz or safetensors file");
  EXPECT_EQ(TensorFile::open(written("empty", "")).status().message(), "'" + path("empty") + "' is empty");
  EXPECT_EQ(load_npy(written("b.npy", "hello, world")).status().code(), Code::corrupt) << "its name says what it was";
  EXPECT_THAT(load_npy(path("b.npy")).status().message(),
              StartsWith("'" + path("b.npy") + "' is not a valid npy file"));
}

TEST_F(TensorIo, EveryTruncationIsAnErrorThatNamesTheFile) {
  const std::vector<std::int64_t> values(5, 7);
  for (const std::string& name : {std::string("a.npy"), std::string("a.npz"), std::string("a.safetensors")}) {
    const Status saved = name == "a.npy"   ? save_npy(path(name), view(values))
                         : name == "a.npz" ? save_npz(path(name), {{"x", view(values)}}, Compression::deflate)
                                           : save_safetensors(path(name), {{"x", view(values)}});
    ASSERT_TRUE(saved.ok());
    const std::string whole = *base::read_file(path(name));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto file = TensorFile::open(written(name, whole.substr(0, length)));
      ASSERT_FALSE(file.ok()) << name << " of " << length << " bytes";
      EXPECT_EQ(file.error().code(), Code::corrupt);
      EXPECT_THAT(file.error().message(), HasSubstr(path(name)));
    }
  }
}

TEST_F(TensorIo, DamagedElementsOfAnArchiveAreFoundWhenLoaded) {
  const std::vector<float> values(100, 1);
  ASSERT_TRUE(save_npz(path("a.npz"), {{"good", view(values)}, {"bad", view(values)}}).ok());
  std::string bytes = *base::read_file(path("a.npz"));
  bytes[bytes.rfind("bad.npy", bytes.size() - 100) + 300] ^= 1;
  const auto file = TensorFile::open(written("a.npz", bytes));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->load("good").ok());
  EXPECT_EQ(file->load("bad").status().code(), Code::corrupt);
  EXPECT_THAT(file->load("bad").status().message(), HasSubstr("'bad' is damaged"));
  EXPECT_FALSE(load_npz(path("a.npz")).ok());
}

TEST_F(TensorIo, OtherFilesInAnArchiveAreNamed) {
  const std::vector<float> values(3, 1);
  ASSERT_TRUE(save_npz(path("a.npz"), {{"good", view(values)}, {"bad", view(values)}}).ok());
  std::string bytes = *base::read_file(path("a.npz"));
  bytes[bytes.find("NUMPY", bytes.find("bad.npy"))] = 'X';
  const auto file = TensorFile::open(written("a.npz", bytes));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->view("good").ok());
  for (const Status& status : {file->view("bad").status(), file->info("bad").status()}) {
    EXPECT_EQ(status.code(), Code::corrupt);
    EXPECT_THAT(status.message(), StartsWith("'" + path("a.npz") + "': 'bad' is not a valid npy file: "));
  }
}

// ---- Looking into a file

TEST_F(TensorIo, AFileListsItsContent) {
  const std::vector<float> matrix(6);
  const std::vector<std::uint8_t> bytes(3);
  ASSERT_TRUE(save_npy(path("a"), view(matrix, {2, 3})).ok());
  ASSERT_TRUE(save_npz(path("b"), {{"m", view(matrix, {2, 3})}, {"b", view(bytes)}}).ok());
  ASSERT_TRUE(save_npz(path("c"), {{"m", view(matrix, {2, 3})}, {"b", view(bytes)}}, Compression::deflate).ok());
  ASSERT_TRUE(save_safetensors(path("d"), {{"m", view(matrix, {2, 3})}, {"b", view(bytes)}}, {{"k", "v"}}).ok());
  EXPECT_EQ(TensorFile::open(path("a"))->format(), TensorFormat::npy);
  EXPECT_THAT(TensorFile::open(path("a"))->names(), ElementsAre(""));
  EXPECT_EQ(TensorFile::open(path("a"))->info()->shape, (Shape{2, 3}));
  for (const auto& [name, format] : {std::pair("b", TensorFormat::npz), std::pair("c", TensorFormat::npz),
                                     std::pair("d", TensorFormat::safetensors)}) {
    const auto file = TensorFile::open(path(name));
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->format(), format);
    EXPECT_EQ(file->path(), path(name));
    EXPECT_EQ(file->bytes(), std::filesystem::file_size(path(name)));
    EXPECT_THAT(file->names(), ElementsAre("m", "b"));
    EXPECT_EQ(file->info("m")->dtype, DType::f32);
    EXPECT_EQ(file->info("m")->shape, (Shape{2, 3}));
    EXPECT_EQ(file->info("b")->dtype, DType::u8);
    EXPECT_EQ(file->metadata().size(), format == TensorFormat::safetensors ? 1U : 0U);
  }
}

TEST_F(TensorIo, ViewsLieInTheFileAndOutliveItsHandle) {
  const Tensor tensor = testing::random_tensor(random_, DType::bf16, {4, 5});
  ASSERT_TRUE(save_npy(path("a"), tensor.view()).ok());
  ASSERT_TRUE(save_npz(path("b"), {{"x", tensor.view()}}).ok());
  ASSERT_TRUE(save_safetensors(path("c"), {{"x", tensor.view()}}).ok());
  for (const char* name : {"a", "b", "c"}) {
    auto opened = TensorFile::open(path(name));
    ASSERT_TRUE(opened.ok());
    const TensorFile file = *opened;
    opened = Status(Code::closed, "");
    std::filesystem::remove(path(name));
    const auto first = file.view(), second = file.view();
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->data, second->data) << "nothing is copied";
    testing::expect_same(*first, tensor.view());
  }
}

TEST_F(TensorIo, ViewsKeepFortranOrder) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(save_npy(path("a"), view(values.data(), {2, 3}, {1, 2})).ok());
  const auto file = TensorFile::open(path("a"));
  EXPECT_EQ(file->view()->strides, (Shape{1, 2}));
  EXPECT_THAT(testing::values_of<float>(*file->load()), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST_F(TensorIo, TensorsWithoutAnInPlaceViewCanBeLoaded) {
  const std::vector<float> values(6, 2);
  ASSERT_TRUE(save_npz(path("a"), {{"x", view(values)}}, Compression::deflate).ok());
  const auto compressed = TensorFile::open(path("a"));
  EXPECT_EQ(compressed->view("x").status().code(), Code::unsupported);
  EXPECT_TRUE(compressed->load("x").ok());
  const auto big_endian = TensorFile::open(written("b", testing::corpus_file("npy/big_endian_c8.npy")));
  ASSERT_TRUE(big_endian.ok());
  EXPECT_EQ(big_endian->view().status().code(), Code::unsupported);
  EXPECT_TRUE(big_endian->load().ok());
}

TEST_F(TensorIo, AnUnknownNameIsAnErrorThatListsTheNames) {
  const std::vector<float> values(2);
  ASSERT_TRUE(save_npz(path("a"), {{"x", view(values)}, {"y", view(values)}}).ok());
  const auto file = TensorFile::open(path("a"));
  EXPECT_EQ(file->load("z").status().code(), Code::not_found);
  EXPECT_EQ(file->view("z").status().message(), "'" + path("a") + "' has no tensor 'z'; it has 'x', 'y'");
  EXPECT_EQ(file->info().status().message(),
            "'" + path("a") + "' has 2 tensors, so a name must be given; it has 'x', 'y'");
  ASSERT_TRUE(save_npz(path("a"), {{"x", view(values)}}).ok());
  EXPECT_TRUE(TensorFile::open(path("a"))->load().ok()) << "one tensor needs no name";
  ASSERT_TRUE(save_npz(path("a"), {}).ok());
  EXPECT_EQ(TensorFile::open(path("a"))->load().status().message(), "'" + path("a") + "' has no tensors");
}

// Python's zipfile appends so; NumPy takes the last.
TEST_F(TensorIo, OfANameTwiceInAnArchiveTheLastCounts) {
  const std::vector<float> first(2, 1), second(3, 2);
  ASSERT_TRUE(save_npz(path("a"), {{"x", view(first)}, {"y", view(first)}, {"z", view(second)}}).ok());
  std::string bytes = *base::read_file(path("a"));
  for (std::size_t at = 0; (at = bytes.find("z.npy", at)) != std::string::npos;) bytes[at] = 'x';
  const auto file = TensorFile::open(written("a", bytes));
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_THAT(file->names(), ElementsAre("x", "y"));
  testing::expect_same(file->load("x")->view(), view(second));
}

TEST_F(TensorIo, ADuplicateNameInSafetensorsIsAnError) {
  const std::vector<float> values(2);
  ASSERT_TRUE(save_safetensors(path("a"), {{"x", view(values)}, {"y", view(values)}}).ok());
  std::string bytes = *base::read_file(path("a"));
  bytes[bytes.find("\"y\"") + 1] = 'x';
  EXPECT_EQ(TensorFile::open(written("a", bytes)).status().code(), Code::corrupt);
}

}  // namespace
}  // namespace sonde
