// A policy from TOML. The only file that includes toml++.
#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/input_file.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "formats/selector.h"
#include "policy/control_file.h"
#include "policy/expression_nodes.h"
#include "policy/expression_parser.h"
#include "policy/expression_text.h"
#include "policy/policy_values.h"
#include "policy/rules.h"
#include "policy/toml.h"

namespace sonde {
namespace {

using policy::condition::joined;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// As short as it can be written, and always as one that is not whole: 1.5, 2.0, 1e+300.
std::string number_text(double value) {
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string described(const toml::node& node) {
  constexpr std::size_t kShown = 40;
  if (const auto* text = node.as_string()) {
    const std::string& value = text->get();
    if (value.size() <= kShown) return joined({"\"", value, "\""});
    return joined({"\"", base::valid_utf8(value.substr(0, kShown)), "...\""});
  }
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return number_text(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array";
  return "a date or time";
}

// Behind this byte; columns count characters.
void advance(toml::source_position& place, char byte) noexcept {
  if (byte == '\n') {
    ++place.line;
    place.column = 1;
  } else if (base::begins_character(byte)) {
    ++place.column;
  }
}

// The rest of a file from there on; empty if it has no such place.
std::string_view from(std::string_view file, const toml::source_position& place) noexcept {
  toml::source_position at = {1, 1};
  std::size_t bytes = 0;
  for (; bytes < file.size() && (at.line != place.line || at.column != place.column); ++bytes) advance(at, file[bytes]);
  return file.substr(bytes);
}

// Reads as much as possible and keeps the error that comes first in the file.
class Reader {
 public:
  // Of the file its name and its text, which outlives this.
  Reader(std::string_view source, std::string_view file) : source_(source), file_(file) {}

  Status status() const { return message_.empty() ? Status::success() : Status(Code::invalid_argument, message_); }

  void root(const toml::table& table, policy::ControlFile& file, bool control);

 private:
  using Place = toml::source_position;
  // A key and the handler of its value.
  struct Key {
    std::string_view name;
    std::function<void(const toml::node&)> read;
    bool offered = true;  // in the message about an unknown key
  };

  void fail(const Place& place, std::string_view message) {
    const std::pair at(place.line, place.column);
    if (!message_.empty() && at >= at_) return;
    at_ = at;
    message_ = joined({source_, ":", std::to_string(place.line), ":", std::to_string(place.column), ": ", message});
  }
  void fail(const toml::node& node, std::string_view message) { fail(node.source().begin, message); }
  void expected(const toml::node& node, std::string_view what) {
    fail(node, joined({"expected ", what, ", found ", described(node)}));
  }

  void keys(const toml::table& table, std::string_view where, const std::vector<Key>& known);
  void tables(const toml::node& node, std::string_view name, const std::function<void(const toml::table&)>& read);

  void text(const toml::node& node, std::string_view what, std::string& to);
  void integer(const toml::node& node, std::string_view what, std::int64_t least, std::int64_t most, std::int64_t& to);
  void truth(const toml::node& node, bool& to);
  // A string, or an array of them, one by one.
  void words(const toml::node& node, std::string_view what, const std::function<bool(const std::string&)>& read);
  void pattern(const toml::node& node, std::string& to);
  void kinds(const toml::node& node, std::vector<Kind>& to);
  void condition(const toml::node& node, std::string& to);
  std::optional<Place> place_in_file(const toml::node& node, std::string_view value, std::size_t column) const;
  void size(const toml::node& node, std::uint64_t least, std::string_view what, std::uint64_t& to);

  void watch(const toml::table& table, WatchPolicy& watch);
  void every(const toml::node& node, WatchPolicy& watch);
  void steps(const toml::node& node, WatchPolicy& watch);
  void sample(const toml::node& node, RowSample& sample);
  void record(const toml::node& node, WatchPolicy& watch);
  void trigger(const toml::table& table, std::string_view where, TriggerPolicy& trigger);
  void trigger_name(const toml::node& node, std::string& to);
  static const toml::node& culprit(const toml::table& table, const TriggerPolicy& trigger, const std::string& message);
  void rearm(const toml::node& node, TriggerPolicy& trigger);
  void flight(const toml::table& table, FlightPolicy& flight);
  void use(const toml::node& node, FlightPolicy& flight);
  void directory(const toml::node& node, std::string& to);
  void budget(const toml::table& table, BudgetPolicy& budget);
  void overhead(const toml::node& node, BudgetPolicy& budget);
  void allow(const toml::table& table, std::vector<std::string>& patterns);

  std::string source_;
  std::string_view file_;
  std::string message_;
  std::pair<toml::source_index, toml::source_index> at_;
};

void Reader::keys(const toml::table& table, std::string_view where, const std::vector<Key>& known) {
  for (const auto& [key, value] : table) {
    const auto found = std::ranges::find(known, key.str(), &Key::name);
    if (found != known.end()) {
      found->read(value);
      continue;
    }
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const Key& one : known) {
      if (one.offered) names.emplace_back(one.name);
    }
    std::string hint = base::did_you_mean(key.str(), names);
    if (hint.empty()) hint = joined({"; it may have ", base::enumerated(names)});
    fail(key.source().begin, joined({where, " has no key '", key.str(), "'", hint}));
  }
}

void Reader::tables(const toml::node& node, std::string_view name,
                    const std::function<void(const toml::table&)>& read) {
  const toml::array* const array = node.as_array();
  const bool right =
      array != nullptr && std::ranges::all_of(*array, [](const toml::node& one) { return one.is_table(); });
  if (!right) return expected(node, joined({"tables, each headed [[", name, "]]"}));
  for (const toml::node& one : *array) read(*one.as_table());
}

void Reader::text(const toml::node& node, std::string_view what, std::string& to) {
  const auto* const value = node.as_string();
  if (value == nullptr || value->get().empty()) return expected(node, what);
  to = value->get();
}

void Reader::integer(const toml::node& node, std::string_view what, std::int64_t least, std::int64_t most,
                     std::int64_t& to) {
  const auto* const value = node.as_integer();
  if (value != nullptr && value->get() >= least && value->get() <= most) {
    to = value->get();
    return;
  }
  const std::string limit = most == kMost ? "" : joined({" and up to ", std::to_string(most)});
  expected(node, joined({what, ", a whole number from ", std::to_string(least), limit}));
}

void Reader::truth(const toml::node& node, bool& to) {
  const auto* const value = node.as_boolean();
  if (value == nullptr) return expected(node, "true or false");
  to = value->get();
}

void Reader::words(const toml::node& node, std::string_view what, const std::function<bool(const std::string&)>& read) {
  const auto one = [&](const toml::node& word) {
    const auto* const value = word.as_string();
    if (value == nullptr || !read(value->get())) expected(word, what);
  };
  const toml::array* const array = node.as_array();
  if (array == nullptr) return one(node);
  if (array->empty()) return fail(node, joined({"expected ", what, ", found an empty array"}));
  for (const toml::node& word : *array) one(word);
}

void Reader::pattern(const toml::node& node, std::string& to) {
  text(node, "a pattern for the names of tensors, such as \"dense_.*\"", to);
  if (!node.is_string()) return;
  if (const auto selector = tags::Selector::create(to); !selector) fail(node, selector.error().message());
}

void Reader::kinds(const toml::node& node, std::vector<Kind>& to) {
  words(node, "a kind (activation, gradient, weight, update, input or output)", [&](const std::string& word) {
    const std::optional<Kind> kind = policy::condition::kind_of(word);
    if (kind) to.push_back(*kind);
    return kind.has_value();
  });
}

void Reader::condition(const toml::node& node, std::string& to) {
  const auto* const value = node.as_string();
  if (value == nullptr) return expected(node, "a condition, such as \"loss > 1.0\"");
  to = value->get();
  policy::condition::ParseError error;
  if (policy::condition::parse_condition(to, error)) return;
  if (const auto place = place_in_file(node, to, error.column)) return fail(*place, error.message);
  fail(node, joined({policy::condition::place_in(to, error), " of the condition: ", error.message}));
}

// The position in the file of a character of a quoted string; empty if escapes make the string differ from the file.
std::optional<Reader::Place> Reader::place_in_file(const toml::node& node, std::string_view value,
                                                   std::size_t column) const {
  Place place = node.source().begin;
  std::string_view rest = from(file_, place);
  const auto skip = [&](std::size_t bytes) {
    for (; bytes > 0 && !rest.empty(); --bytes, rest.remove_prefix(1)) advance(place, rest[0]);
  };
  const std::string_view quote = rest.substr(0, 1);
  if (quote != "\"" && quote != "'") return std::nullopt;
  const bool lines = rest.starts_with(joined({quote, quote, quote}));
  skip(lines ? 3 : 1);
  const auto skip_line_end = [&] {  // both kinds are one character of the text
    if (rest.starts_with("\r\n")) skip(1);
    if (rest.starts_with('\n')) skip(1);
  };
  if (lines) skip_line_end();
  std::optional<Place> found;
  std::size_t seen = 0;
  for (const char byte : value) {
    if (base::begins_character(byte) && ++seen == column) found = place;
    if (!rest.starts_with(byte) && !(byte == '\n' && rest.starts_with("\r\n"))) return std::nullopt;
    byte == '\n' ? skip_line_end() : skip(1);
  }
  if (!rest.starts_with(quote)) return std::nullopt;
  return found.value_or(place);
}

void Reader::size(const toml::node& node, std::uint64_t least, std::string_view what, std::uint64_t& to) {
  std::optional<std::uint64_t> bytes;
  if (const auto* const text = node.as_string()) bytes = base::parse_byte_size(text->get());
  if (const auto* const number = node.as_integer(); number != nullptr && number->get() >= 0) {
    bytes = static_cast<std::uint64_t>(number->get());
  }
  if (!bytes) return expected(node, R"(a size, such as "256MiB" or "20GB" or a number of bytes)");
  if (*bytes < least) return expected(node, what);
  to = *bytes;
}

void Reader::every(const toml::node& node, WatchPolicy& watch) {
  if (const auto* const steps = node.as_integer(); steps != nullptr && steps->get() >= 1) {
    watch.every = steps->get();
    return;
  }
  const auto* const value = node.as_string();
  const auto interval = value != nullptr ? policy::interval_of(value->get()) : std::nullopt;
  if (!interval) return expected(node, R"(a number of steps from 1, "epoch", or such as "5 epochs" or "100 steps")");
  watch.every = interval->every;
  watch.epochs = interval->epochs;
}

void Reader::steps(const toml::node& node, WatchPolicy& watch) {
  const auto* const value = node.as_string();
  const auto range = value != nullptr ? policy::step_range_of(value->get()) : std::nullopt;
  if (!range) return expected(node, R"(a range of steps, such as "1000..2000", "1000.." or "..2000")");
  if (range->last != -1 && range->last < range->first) {
    return expected(node, "a range of steps whose end is not before its beginning");
  }
  watch.first_step = range->first;
  watch.last_step = range->last;
}

void Reader::sample(const toml::node& node, RowSample& sample) {
  if (const toml::table* const table = node.as_table()) {
    keys(*table, "sample",
         {{"rows", [&](const toml::node& value) { integer(value, "a number of rows", 1, kMost, sample.rows); }},
          {"random", [&](const toml::node& value) { truth(value, sample.random); }}});
    if (!table->contains("rows")) fail(node, "expected rows = N in the sample");
    return;
  }
  const auto* const text = node.as_string();
  const auto* const number = node.as_integer();
  const auto rows = text != nullptr ? policy::rows_of(text->get()) : std::nullopt;
  if (rows) {
    sample.rows = *rows;
  } else if (number != nullptr && number->get() >= 1) {
    sample.rows = number->get();
  } else {
    expected(node, "a number of rows, such as 8, \"8 rows\" or { rows = 8, random = true }");
  }
}

void Reader::record(const toml::node& node, WatchPolicy& watch) {
  watch.record = Keep::nothing;
  words(node, "what to record (stats, histogram, image, audio, whole, npy, npz, print or csv)",
        [&](const std::string& word) {
          const std::optional<Keep> keep = policy::keep_of(word);
          if (keep) watch.record = watch.record | *keep;
          return keep.has_value();
        });
}

void Reader::watch(const toml::table& table, WatchPolicy& watch) {
  keys(table, "[[watch]]",
       {{"tensors", [&](const toml::node& value) { pattern(value, watch.tensors); }},
        {"exclude", [&](const toml::node& value) { pattern(value, watch.exclude); }},
        {"kind", [&](const toml::node& value) { kinds(value, watch.kinds); }},
        {"every", [&](const toml::node& value) { every(value, watch); }},
        {"steps", [&](const toml::node& value) { steps(value, watch); }},
        {"first", [&](const toml::node& value) { integer(value, "a number of steps", 1, kMost, watch.first); }},
        {"sample", [&](const toml::node& value) { sample(value, watch.sample); }},
        {"when", [&](const toml::node& value) { condition(value, watch.when); }},
        {"record", [&](const toml::node& value) { record(value, watch); }}});
}

void Reader::trigger_name(const toml::node& node, std::string& to) {
  const auto* const value = node.as_string();
  if (value == nullptr || !policy::is_trigger_name(value->get())) {
    return expected(node,
                    "a name of letters, digits, '_', '-' and '.', up to 64, since it becomes part of a file's name");
  }
  to = value->get();
}

void Reader::rearm(const toml::node& node, TriggerPolicy& trigger) {
  const std::optional<Rearm> rearm = policy::rearm_of(node.value_or(std::string()));
  if (!rearm) return expected(node, R"("edge", "always" or "never")");
  trigger.rearm = *rearm;
}

// The value that a trigger is wrong for: the one without which that would not be said.
const toml::node& Reader::culprit(const toml::table& table, const TriggerPolicy& trigger, const std::string& message) {
  const auto says_so = [&](std::string TriggerPolicy::* without) {
    TriggerPolicy other = trigger;
    (other.*without).clear();
    const Result<std::string> expression = policy::expression_of(other);
    return !expression && expression.error().message() == message;
  };
  if (!trigger.tensors.empty() && !says_so(&TriggerPolicy::tensors)) return *table.get("tensors");
  if (!trigger.scalar.empty() && !says_so(&TriggerPolicy::scalar)) return *table.get("scalar");
  const toml::node* const rule = table.get("rule");
  return rule != nullptr ? *rule : static_cast<const toml::node&>(table);
}

void Reader::trigger(const toml::table& table, std::string_view where, TriggerPolicy& trigger) {
  const bool was_right = message_.empty();
  const auto count = [&](std::int64_t& to) {
    return [this, &to](const toml::node& value) { integer(value, "a number of steps", 0, kMost, to); };
  };
  keys(table, where,
       {{"name", [&](const toml::node& value) { trigger_name(value, trigger.name); }},
        {"when", [&](const toml::node& value) { condition(value, trigger.when); }},
        {"rule",
         [&](const toml::node& value) { text(value, "the name of a rule, such as \"nonfinite\"", trigger.rule); }},
        {"tensors", [&](const toml::node& value) { pattern(value, trigger.tensors); }},
        {"scalar",
         [&](const toml::node& value) { text(value, "the name of a scalar, such as \"loss\"", trigger.scalar); }},
        {"before", count(trigger.before)},
        {"after", count(trigger.after)},
        {"hold_off", count(trigger.hold_off)},
        {"rearm", [&](const toml::node& value) { rearm(value, trigger); }},
        {"max_captures",
         [&](const toml::node& value) { integer(value, "a number of captures", 0, kMost, trigger.max_captures); }}});
  if (!was_right || !message_.empty()) return;  // further errors would only repeat it
  const Result<std::string> expression = policy::expression_of(trigger);
  if (expression) return;
  fail(culprit(table, trigger, expression.error().message()), expression.error().message());
}

void Reader::use(const toml::node& node, FlightPolicy& flight) {
  if (const auto* const value = node.as_boolean()) {
    flight.use = value->get() ? FlightPolicy::Use::on : FlightPolicy::Use::off;
  } else if (node.value_or(std::string()) != "automatic") {
    expected(node, "true, false or \"automatic\"");
  }
}

void Reader::directory(const toml::node& node, std::string& to) {
  text(node, "the path of a directory", to);
  if (to.find('\0') != std::string::npos) fail(node, "the path contains a zero byte");
}

void Reader::flight(const toml::table& table, FlightPolicy& flight) {
  keys(table, "[flight]",
       {{"use", [&](const toml::node& value) { use(value, flight); }},
        {"size",
         [&](const toml::node& value) {
           size(value, policy::kLeastRing, "a size from 8KiB, which is the smallest ring", flight.bytes);
         }},
        {"steps", [&](const toml::node& value) { integer(value, "a number of steps", 0, kMost, flight.steps); }},
        {"tensors", [&](const toml::node& value) { pattern(value, flight.tensors); }},
        {"exclude", [&](const toml::node& value) { pattern(value, flight.exclude); }},
        {"kind", [&](const toml::node& value) { kinds(value, flight.kinds); }},
        {"dir", [&](const toml::node& value) { directory(value, flight.directory); }}});
}

void Reader::overhead(const toml::node& node, BudgetPolicy& budget) {
  const auto* const text = node.as_string();
  const auto share = text != nullptr ? policy::share_of(text->get()) : node.value<double>();
  const bool sensible = share && *share > 0 && *share <= 1;  // which NaN is not
  if (!sensible) {
    return expected(node, "a share of time above 0 and up to 1, such as \"1%\" or 0.01");
  }
  budget.overhead = share;
}

void Reader::budget(const toml::table& table, BudgetPolicy& budget) {
  const auto bytes = [&](std::optional<std::uint64_t>& to) {
    return [this, &to](const toml::node& value) { size(value, 1, "a size above 0", to.emplace()); };
  };
  keys(table, "[budget]",
       {{"overhead", [&](const toml::node& value) { overhead(value, budget); }},
        {"memory", bytes(budget.memory)},
        {"disk", bytes(budget.disk)}});
}

void Reader::allow(const toml::table& table, std::vector<std::string>& patterns) {
  keys(table, "[allow]", {{"negative_infinity", [&](const toml::node& value) {
                             const toml::array* const array = value.as_array();
                             if (array == nullptr) return pattern(value, patterns.emplace_back());
                             for (const toml::node& one : *array) pattern(one, patterns.emplace_back());
                           }}});
}

void Reader::root(const toml::table& table, policy::ControlFile& file, bool control) {
  const auto table_of = [&](std::string_view name, const std::function<void(const toml::table&)>& read) {
    return Key{name, [this, name, read](const toml::node& value) {
                 const toml::table* const inner = value.as_table();
                 if (inner == nullptr) return expected(value, joined({"a table, headed [", name, "]"}));
                 read(*inner);
               }};
  };
  Policy& policy = file.policy;
  const std::vector<Key> known = {
      {"watch",
       [&](const toml::node& value) {
         file.has_watches = true;
         tables(value, "watch", [&](const toml::table& one) { watch(one, policy.watches.emplace_back()); });
       }},
      {"trigger",
       [&](const toml::node& value) {
         file.has_triggers = true;
         tables(value, "trigger",
                [&](const toml::table& one) { trigger(one, "[[trigger]]", policy.triggers.emplace_back()); });
       }},
      table_of("flight",
               [&](const toml::table& one) {
                 file.has_flight = true;
                 flight(one, policy.flight);
               }),
      table_of("budget",
               [&](const toml::table& one) {
                 file.has_budget = true;
                 budget(one, policy.budget);
               }),
      table_of("allow",
               [&](const toml::table& one) {
                 file.has_allow = true;
                 allow(one, policy.allow_negative_infinity);
               }),
      {"control",
       [&](const toml::node& value) {
         const toml::table* const inner = value.as_table();
         if (!control) return fail(value, "[control] belongs in the control.toml of a run, not in a policy");
         if (inner == nullptr) return expected(value, "a table, headed [control]");
         keys(*inner, "[control]",
              {{"keep_triggers", [&](const toml::node& one) { truth(one, file.keep_triggers); }},
               {"fire", [&](const toml::node& one) { integer(one, "a number that grows", 0, kMost, file.fire); }}});
       },
       control},
      {"armed",
       [&](const toml::node& value) {
         if (!control)
           return fail(value, "[[armed]] belongs in the control.toml of a run: write [[trigger]] in a policy");
         tables(value, "armed", [&](const toml::table& one) { trigger(one, "[[armed]]", file.armed.emplace_back()); });
       },
       control}};
  keys(table, "a policy", known);
}

Result<policy::ControlFile> read(std::string_view toml, std::string_view source, bool control) {
  const std::string name = base::valid_utf8(source);
  if (toml.size() > policy::kMostBytes) {
    return Status(Code::invalid_argument, joined({name, " is larger than 1 MiB, the limit of a policy"}));
  }
  const toml::parse_result parsed = toml::parse(toml, name);
  if (!parsed) {
    const toml::source_position place = parsed.error().source().begin;
    return Status(Code::invalid_argument,
                  joined({name, ":", std::to_string(place.line), ":", std::to_string(place.column), ": ",
                          base::valid_utf8(parsed.error().description())}));
  }
  policy::ControlFile file;
  Reader reader(name, toml);
  reader.root(parsed.table(), file, control);
  if (Status status = reader.status(); !status) return status;
  return file;
}

// A TOML string in double quotes.
std::string quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : base::valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string_view to_string(Rearm rearm) {
  switch (rearm) {
    case Rearm::edge: return "edge";
    case Rearm::always: return "always";
    case Rearm::never: break;
  }
  return "never";
}

}  // namespace

Result<Policy> Policy::parse(std::string_view toml, std::string_view source) {
  Result<policy::ControlFile> file = read(toml, source, false);
  if (!file) return file.error();
  return std::move(file->policy);
}

Result<Policy> Policy::load(std::string_view path) {
  const Result<base::InputFile> file = base::InputFile::open(std::string(path));
  if (!file) return file.error();
  const Result<std::string> text = file->read_up_to(policy::kMostBytes + 1);  // one too many: parse will say so
  if (!text) return text.error();
  return parse(*text, path);
}

namespace policy {

Result<ControlFile> parse_control(std::string_view toml, std::string_view source) { return read(toml, source, true); }

std::string to_toml(const TriggerPolicy& trigger, std::string_view table) {
  std::string out = joined({"[[", table, "]]\n"});
  const auto add = [&](std::string_view key, std::string_view value) { out += joined({key, " = ", value, "\n"}); };
  const auto add_text = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, quoted(value));
  };
  add_text("name", trigger.name);
  add_text("when", trigger.when);
  add_text("rule", trigger.rule);
  add_text("tensors", trigger.tensors);
  add_text("scalar", trigger.scalar);
  add("before", std::to_string(trigger.before));
  add("after", std::to_string(trigger.after));
  add("hold_off", std::to_string(trigger.hold_off));
  add_text("rearm", to_string(trigger.rearm));
  add("max_captures", std::to_string(trigger.max_captures));
  return out;
}

}  // namespace policy
}  // namespace sonde
