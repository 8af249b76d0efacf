// The only file that includes SQLite. The database is written to a temporary file, in one transaction and without a
// journal, since nobody sees it before it is renamed; indexes are created at the end, after the rows.
//
//   CREATE TABLE scalars (run TEXT, tag TEXT, step INTEGER, wall_time REAL, value REAL)
//
// SQLite has no NaN: it stores NULL instead. Infinities are kept. A REAL is a double: a float becomes the double
// nearest to its shortest text, so that it is printed as in CSV (0.1, not 0.10000000149011612) and rounds to the same
// float.
#include <sqlite3.h>

#include <filesystem>
#include <utility>

#include "base/utf8.h"
#include "formats/json_writer.h"
#include "formats/shortest.h"
#include "interrupt.h"
#include "output.h"
#include "tables.h"

namespace sonde::cli {
namespace {

// SQLite's integers are signed; no count of elements comes near the limit.
sqlite3_int64 signed_count(std::uint64_t count) noexcept { return static_cast<sqlite3_int64>(count); }

class SqliteTable final : public TableWriter {
 public:
  explicit SqliteTable(const TableTarget& target)
      : path_(target.path), temporary_(temporary_path(path_)), table_(target.table), key_(target.key) {}

  ~SqliteTable() override {
    close();
    std::error_code error;
    if (created_ && !finished_) std::filesystem::remove(temporary_, error);
  }

  Status open(const std::vector<Column>& columns) {
    catch_interrupts();
    constexpr int kHow = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(temporary_.c_str(), &database_, kHow, nullptr) != SQLITE_OK) return failure();
    created_ = true;
    // The index of a large table takes a while.
    constexpr int kOperations = 100'000;  // some milliseconds
    sqlite3_progress_handler(database_, kOperations, [](void*) { return interrupted() ? 1 : 0; }, nullptr);
    std::string create = "CREATE TABLE " + table_ + " (run TEXT NOT NULL, " + key_ + " TEXT NOT NULL";
    std::string insert = "INSERT INTO " + table_ + " VALUES (?, ?";
    for (const Column& column : columns) {
      create.append(", ").append(column.name).append(" ").append(type_name(column.type));
      insert += ", ?";
      has_steps_ = has_steps_ || column.name == "step";
    }
    for (const std::string& sql : {std::string("PRAGMA journal_mode = OFF"), std::string("PRAGMA synchronous = OFF"),
                                   std::string("BEGIN"), create + ")"}) {
      if (Status status = execute(sql); !status) return status;
    }
    if (sqlite3_prepare_v2(database_, (insert + ")").c_str(), -1, &insert_, nullptr) != SQLITE_OK) return failure();
    return Status::success();
  }

  void series(std::string_view run, std::string_view tag) override {
    run_ = base::valid_utf8(run);
    tag_ = base::valid_utf8(tag);
  }

  Status row(std::span<const Cell> cells) override {
    if (Status status = not_interrupted(); !status) return status;
    bind_text(1, run_);
    bind_text(2, tag_);
    int at = 3;
    for (const Cell& cell : cells) bind(at++, cell);
    const int code = sqlite3_step(insert_);
    if (code != SQLITE_DONE) return failure();
    sqlite3_reset(insert_);
    return Status::success();
  }

  Status finish() override {
    const std::string index = "CREATE INDEX " + table_ + "_by_" + (has_steps_ ? "step" : key_) + " ON " + table_ +
                              " (run, " + key_ + (has_steps_ ? ", step)" : ")");
    for (const std::string& sql : {index, std::string("COMMIT")}) {
      if (Status status = execute(sql); !status) return status;
    }
    close();
    if (Status status = move_into_place(temporary_, path_); !status) return status;
    finished_ = true;
    return Status::success();
  }

 private:
  static std::string_view type_name(Cell::Type type) noexcept {
    switch (type) {
      case Cell::Type::integer:
      case Cell::Type::truth:
      case Cell::Type::count: return "INTEGER";
      case Cell::Type::single:
      case Cell::Type::real:
      case Cell::Type::time: return "REAL";
      case Cell::Type::text:
      case Cell::Type::json:
      case Cell::Type::shape: return "TEXT";
      case Cell::Type::any: break;
    }
    return "";  // values as they are
  }

  void bind_text(int at, std::string_view text) {
    sqlite3_bind_text64(insert_, at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  void bind(int at, const Cell& cell) {
    switch (cell.type) {
      case Cell::Type::truth:
      case Cell::Type::integer: sqlite3_bind_int64(insert_, at, cell.integer); return;
      case Cell::Type::count: sqlite3_bind_int64(insert_, at, signed_count(cell.count)); return;
      case Cell::Type::single: sqlite3_bind_double(insert_, at, formats::shortest_double(cell.real)); return;
      case Cell::Type::real:
      case Cell::Type::time: sqlite3_bind_double(insert_, at, cell.real); return;
      case Cell::Type::text:
      case Cell::Type::json: return bind_text(at, cell.text);
      case Cell::Type::shape: shape_ = formats::JsonWriter().shape(*cell.shape).take(); return bind_text(at, shape_);
      case Cell::Type::any: return;  // no cell has this type
    }
  }

  Status execute(const std::string& sql) {
    return sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK ? Status::success() : failure();
  }

  Status failure() const {
    if (Status status = not_interrupted(); !status) return status;
    const char* reason = database_ != nullptr ? sqlite3_errmsg(database_) : "out of memory";
    return {Code::io, "cannot write '" + path_ + "': " + reason};
  }

  void close() {
    sqlite3_finalize(std::exchange(insert_, nullptr));
    sqlite3_close(std::exchange(database_, nullptr));
  }

  std::string path_;
  std::string temporary_;
  std::string table_;
  std::string key_;
  bool has_steps_ = false;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  std::string run_;
  std::string tag_;
  std::string shape_;  // lives until the row is written
  bool created_ = false;
  bool finished_ = false;
};

}  // namespace

Result<std::unique_ptr<TableWriter>> open_sqlite_table(const TableTarget& target, const std::vector<Column>& columns) {
  if (target.path.empty()) {
    return Status(Code::invalid_argument, "a database cannot go to standard output: name its file with -o");
  }
  if (Status status = writable_as_file(target.path, target.existing); !status) return status;
  auto table = std::make_unique<SqliteTable>(target);
  if (Status status = table->open(columns); !status) return status;
  return std::unique_ptr<TableWriter>(std::move(table));
}

}  // namespace sonde::cli
