#include "regexp/automaton.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "regexp/utf8_reader.h"

namespace sonde::regexp {
namespace {

// A set of places as one value: Before, then the places in ascending order.
using Key = std::vector<Place>;

struct Hash {
  std::size_t operator()(const Key& key) const noexcept {
    std::size_t hash = 14695981039346656037U;  // FNV-1a
    for (const Place place : key) hash = (hash ^ place) * 1099511628211U;
    return hash;
  }
};

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

}  // namespace

// All members but the contents of the cells need the lock. A cell changes once, from kUnknown.
struct Automaton::Table {
  static constexpr std::size_t kCells = std::size_t{1} << 15;
  static constexpr std::size_t kKeyItems = std::size_t{1} << 17;  // of all keys together

  Table(const Program& program, std::size_t columns_per_row)
      : columns(columns_per_row), cells(static_cast<Row*>(std::calloc(kCells, sizeof(Row)))), places(program) {}

  bool full(const Key& key) const noexcept {
    return cells == nullptr || (keys.size() + 1) * columns > kCells || key_items + key.size() > kKeyItems;
  }

  std::mutex mutex;
  std::size_t columns;
  std::unique_ptr<Row, Free> cells;  // zero is kUnknown; the system provides pages when they are used
  std::unordered_map<Key, Row, Hash> rows;
  std::vector<const Key*> keys = {nullptr, nullptr};  // of each row; the first rows would begin at kNoMatch or kMatch
  std::size_t key_items = 0;
  Places places;
};

Automaton::Automaton(Program program)
    : program_(std::move(program)),
      alphabet_(program_),
      end_column_(alphabet_.classes()),
      table_(std::make_unique<Table>(program_, end_column_ + 1)),
      cells_(table_->cells.get()) {
  table_->places.start();
  start_ = row_of(table_->places);
}

Automaton::~Automaton() = default;

bool Automaton::matches(std::string_view text) const {
  Row row = start_;
  for (std::size_t at = 0; at < text.size() && row > kMatch;) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      row = next(row, alphabet_.class_of_ascii(byte), byte);
      ++at;
    } else {
      const Utf8Character read = read_utf8(text, at);
      row = next(row, alphabet_.class_of(read.character), read.character);
      at += read.bytes;
    }
  }
  if (row > kMatch) row = next(row, end_column_, std::nullopt);
  return row == kUnknown ? follow(text) : row == kMatch;
}

inline Automaton::Row Automaton::next(Row row, std::uint32_t column, std::optional<char32_t> character) const {
  const Row known = std::atomic_ref(cells_[row + column]).load(std::memory_order_acquire);
  return known != kUnknown ? known : compute(row, column, character);
}

// kUnknown if there is no room for the row, or another thread uses the table.
Automaton::Row Automaton::compute(Row row, std::uint32_t column, std::optional<char32_t> character) const {
  const std::unique_lock lock(table_->mutex, std::try_to_lock);
  if (!lock) return kUnknown;
  const Key& key = *table_->keys[row / table_->columns];
  Places& places = table_->places;
  places.restore(std::span(key).subspan(1), static_cast<Before>(key.front()));
  places.read(character);
  Row found = kNoMatch;
  if (character) {
    found = row_of(places);
  } else if (places.matched() || places.rest_matches()) {
    found = kMatch;
  }
  std::atomic_ref(cells_[row + column]).store(found, std::memory_order_release);
  return found;
}

Automaton::Row Automaton::row_of(const Places& places) const {
  if (places.rest_matches()) return kMatch;
  if (places.hopeless()) return kNoMatch;
  Key key = {static_cast<Place>(places.before())};
  key.insert(key.end(), places.items().begin(), places.items().end());
  std::sort(key.begin() + 1, key.end());
  if (const auto found = table_->rows.find(key); found != table_->rows.end()) return found->second;
  if (table_->full(key)) return kUnknown;
  const Row row = static_cast<Row>(table_->keys.size() * table_->columns);
  table_->keys.push_back(nullptr);
  table_->key_items += key.size();
  table_->keys.back() = &table_->rows.emplace(std::move(key), row).first->first;
  return row;
}

bool Automaton::follow(std::string_view text) const {
  Places places(program_);
  places.start();
  for (std::size_t at = 0; at < text.size();) {
    if (places.rest_matches() || places.hopeless()) break;
    const Utf8Character read = read_utf8(text, at);
    places.read(read.character);
    at += read.bytes;
  }
  if (!places.rest_matches() && !places.hopeless()) places.read(std::nullopt);
  return places.rest_matches() || places.matched();
}

}  // namespace sonde::regexp
