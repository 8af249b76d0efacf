#include "query/catalogue.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/suggest.h"
#include "formats/json_writer.h"
#include "query/request.h"
#include "store/access.h"

namespace sonde::query {
namespace {

using std::chrono::milliseconds;

std::string shown_name(const std::string& label, const std::string& run) {
  if (label.empty()) return run;
  return run == "." ? label : label + "/" + run;
}

// The same run as before, if it was known.
std::shared_ptr<const RunEntry> entry_of(const Catalogue& before, std::string name, std::size_t log, const Run& run) {
  const Catalogue::Item* known = before.find(name);
  if (known != nullptr && &store::Access::source(known->entry->run) == &store::Access::source(run)) {
    return known->entry;
  }
  return std::make_shared<RunEntry>(std::move(name), log, run);
}

}  // namespace

std::uint64_t RunEntry::version() const { return store::Access::source(run).revision() + edits.load(); }

std::shared_ptr<const Facts> RunEntry::facts() const {
  if (!store::Access::source(run).read_once()) return nullptr;
  const std::uint64_t now = version();
  const std::lock_guard lock(mutex);
  if (!known || known->version != now) {
    auto made = std::make_shared<Facts>(gather_facts(run, known.get()));
    made->version = now;
    known = std::move(made);
  }
  return known;
}

const Catalogue::Item* Catalogue::find(std::string_view name) const {
  const auto at =
      std::ranges::lower_bound(runs, name, {}, [](const Item& item) -> std::string_view { return item.entry->name; });
  return at != runs.end() && at->entry->name == name ? &*at : nullptr;
}

Result<Catalogue::Item> Catalogue::run(std::string_view name) const {
  if (const Item* found = find(name)) return *found;
  std::vector<std::string> names;
  names.reserve(runs.size());
  for (const Item& item : runs) names.push_back(item.entry->name);
  return Status(Code::not_found, "there is no run " + in_quotes(name) + base::nearest(name.substr(0, 200), names));
}

Runs::Runs(std::vector<Served> logs)
    : logs_(std::move(logs)), first_revision_(static_cast<std::uint64_t>(base::wall_seconds() * 1000)) {
  auto empty = std::make_shared<Catalogue>();
  empty->revision = first_revision_;
  empty->list_changed = first_revision_;
  empty->problems.resize(logs_.size());
  catalogue_ = std::move(empty);
}

bool Runs::has_read_more() const {
  if (versions_.size() != logs_.size()) return true;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    if (logs_[i].log.version() != versions_[i]) return true;
  }
  return false;
}

// A run may end without a change in its files.
bool Runs::has_changed_states() const {
  const double now = base::wall_seconds();
  return std::ranges::any_of(
      catalogue_->runs, [now](const Catalogue::Item& item) { return item.pulse_at(now).state != item.pulse.state; });
}

void Runs::renew() const {
  versions_.resize(logs_.size());
  for (std::size_t i = 0; i < logs_.size(); ++i) versions_[i] = logs_[i].log.version();
  const Catalogue& before = *catalogue_;
  auto made = std::make_shared<Catalogue>();
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    made->problems.push_back(logs_[i].log.problems());
    for (const Run& run : logs_[i].log.runs()) {
      made->runs.emplace_back().entry = entry_of(before, shown_name(logs_[i].label, run.name()), i, run);
    }
  }
  std::ranges::sort(made->runs, {}, [](const Catalogue::Item& item) -> const std::string& { return item.entry->name; });

  const std::uint64_t next = before.revision + 1;
  const double now = base::wall_seconds();
  bool changed = false;
  made->list_changed = before.list_changed;
  if (made->runs.size() != before.runs.size()) made->list_changed = next;
  for (Catalogue::Item& item : made->runs) {
    const Catalogue::Item* old = before.find(item.entry->name);
    if (old != nullptr && old->entry != item.entry) old = nullptr;
    item.version = item.entry->version();
    const bool same = old != nullptr && old->version == item.version;
    // Of one that has never been read, nothing is known yet.
    if (same) item.pulse = old->pulse_at(now);
    if (!same && item.version > 0) item.pulse = item.entry->pulse(now);
    if (old == nullptr) made->list_changed = next;
    const bool news = !same || old->state() != item.state();
    item.changed = news ? next : old->changed;
    changed |= news;
  }
  changed |= made->list_changed == next || made->problems != before.problems;
  made->revision = changed ? next : before.revision;
  if (changed) catalogue_ = std::move(made);
}

std::shared_ptr<const Catalogue> Runs::now() const {
  const auto second = static_cast<std::int64_t>(base::wall_seconds());
  const std::lock_guard lock(mutex_);
  const bool due = std::exchange(second_, second) != second;
  if (has_read_more() || (due && has_changed_states())) renew();
  return catalogue_;
}

void Runs::look_again() const {
  const std::lock_guard lock(mutex_);
  renew();
}

std::uint64_t Runs::wait_for_change(std::uint64_t seen, milliseconds timeout) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  // Several logs are polled in turn, each for this long; the states are checked as often.
  const milliseconds turn{logs_.size() == 1 ? 500 : 25};
  for (std::size_t next = 0;; next = (next + 1) % std::max<std::size_t>(1, logs_.size())) {
    std::optional<std::uint64_t> version;
    if (!logs_.empty()) version = logs_[next].log.version();
    const std::uint64_t revision = now()->revision;
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (revision != seen || left <= milliseconds(0) || !version) return revision;
    (void)logs_[next].log.wait_for_change(*version, std::min(left, turn));
  }
}

void Runs::wait_for_first_runs(milliseconds all, milliseconds first) const {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    const std::shared_ptr<const Catalogue> catalogue = now();
    const auto read = std::ranges::count_if(catalogue->runs, [](const Catalogue::Item& item) {
      return store::Access::source(item.entry->run).read_once();
    });
    const bool some = read > 0 || catalogue->runs.empty();
    if (read == std::ssize(catalogue->runs)) return;
    const auto left = std::chrono::duration_cast<milliseconds>(begin + (some ? all : first) - Clock::now());
    if (left <= milliseconds(0)) return;
    (void)wait_for_change(catalogue->revision, std::min(left, milliseconds(20)));
  }
}

Change Runs::change_since(std::uint64_t seen) const {
  const std::shared_ptr<const Catalogue> catalogue = now();
  const bool foreign = seen < first_revision_ || seen > catalogue->revision;
  formats::JsonWriter json;
  json.object().key("revision").integer(catalogue->revision).key("runs").array();
  for (const Catalogue::Item& item : catalogue->runs) {
    if (foreign || item.changed > seen) json.text(item.entry->name);
  }
  json.end().key("all").truth(foreign || catalogue->list_changed > seen).end();
  return {catalogue->revision, json.take()};
}

}  // namespace sonde::query
