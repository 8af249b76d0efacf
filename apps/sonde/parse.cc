// The only file that includes CLI11, which takes seconds to compile.
#include "parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>

#include "base/suggest.h"

namespace sonde::cli {
namespace {

Status invalid(std::string sentence) { return {Code::invalid_argument, std::move(sentence)}; }

// "--output" of "-o,--output".
std::string long_name(const std::string& name) { return name.substr(name.find("--")); }

template <class T>
Status convert(const Flags::Flag& flag, const std::string& text, T& target, std::string_view kind) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), target);
  if (end.ec == std::errc{} && end.ptr == text.data() + text.size()) return Status::success();
  return invalid(long_name(flag.name) + " needs " + std::string(kind) + ", not '" + text + "'");
}

// Writes the text of one option or argument to its variable.
struct Assign {
  const Flags::Flag& flag;
  const std::vector<std::string>& texts;

  Status operator()(bool* target) const {
    *target = true;
    return Status::success();
  }
  Status operator()(std::int64_t* target) const { return convert(flag, texts.back(), *target, "a whole number"); }
  Status operator()(double* target) const { return convert(flag, texts.back(), *target, "a number"); }
  Status operator()(std::vector<std::string>* target) const {
    *target = texts;
    return Status::success();
  }
  Status operator()(std::string* target) const {
    const std::string& text = texts.back();
    if (!flag.choices.empty() && std::ranges::find(flag.choices, text) == flag.choices.end()) {
      std::string all;
      for (const std::string& choice : flag.choices) {
        if (!all.empty()) all += &choice == &flag.choices.back() ? " or " : ", ";
        all += choice;
      }
      return invalid(flag.name + " is " + all + ", not '" + text + "'");
    }
    *target = text;
    return Status::success();
  }
};

struct Bound {
  const Flags::Flag* flag;
  CLI::Option* option;
  std::vector<std::string> texts = {};
  bool given = false;
};

Status unexpected(const std::string& word, const Flags& flags) {
  if (word.size() < 2 || word[0] != '-') return invalid("'" + word + "' is an unexpected argument");
  std::vector<std::string> names = {"--help"};
  for (const Flags::Flag& flag : flags.all_options()) names.push_back(long_name(flag.name));
  const std::string name = word.substr(0, word.find('='));
  return invalid("there is no option '" + name + "'" + base::did_you_mean(name, names));
}

Status lacks_value(const Flags::Flag& flag) { return invalid(long_name(flag.name) + " needs a value, " + flag.value); }

// CLI11 does not name the option in a usable form: it is a switch with a value, or an option without one.
Status mismatch(const Flags& flags, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    const bool last = i + 1 == arguments.size() || name + "=" == arguments[i];
    for (const Flags::Flag& flag : flags.all_options()) {
      if (name != long_name(flag.name) && name != flag.name.substr(0, flag.name.find(','))) continue;
      if (flag.value.empty() && name != arguments[i]) return invalid(name + " takes no value");
      if (!flag.value.empty() && last) return lacks_value(flag);
    }
  }
  return invalid("an option needs a value");
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    if (argument == "-h" || argument == "--help") return true;
  }
  return false;
}

namespace {

// CLI11 reads "[a,b]" as a list of two values. A byte that no argument of a program can contain hides the bracket.
constexpr char kHidden = '\0';

std::vector<std::string> hide_brackets(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    if (argument.ends_with(']')) argument += kHidden;
  }
  return arguments;
}

void show_brackets(std::vector<std::string>& texts) {
  for (std::string& text : texts) {
    if (text.ends_with(kHidden)) text.pop_back();
  }
}

}  // namespace

Status parse(const Flags& flags, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();
  std::vector<Bound> bound;
  bound.reserve(flags.all_arguments().size() + flags.all_options().size());
  for (const auto* group : {&flags.all_arguments(), &flags.all_options()}) {
    for (const Flags::Flag& flag : *group) {
      Bound& one = bound.emplace_back(Bound{&flag, nullptr});
      if (std::holds_alternative<bool*>(flag.target)) {
        one.option = app.add_flag(flag.name, one.given)->disable_flag_override();
      } else if (std::holds_alternative<std::vector<std::string>*>(flag.target)) {
        one.option = app.add_option(flag.name, one.texts);
        // `--layers a model.onnx`: each takes one value, the next word is an argument.
        if (!flag.value.empty()) one.option->allow_extra_args(false);
      } else {
        one.option = app.add_option(flag.name, one.texts.emplace_back())->take_last();
      }
    }
  }
  try {
    std::vector<std::string> words = hide_brackets(arguments);
    std::ranges::reverse(words);
    app.parse(std::move(words));
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> left = app.remaining();
    show_brackets(left);
    return unexpected(left.empty() ? "" : left.front(), flags);
  } catch (const CLI::ArgumentMismatch&) {
    return mismatch(flags, arguments);
  } catch (const CLI::Error& error) {
    return invalid(error.what());
  }
  for (Bound& one : bound) {
    show_brackets(one.texts);
    if (one.option->count() == 0) {
      if (one.flag->required) return invalid(one.flag->name + " is missing: " + one.flag->help);
      continue;
    }
    // "--full" is never meant as a file name.
    if (!one.flag->value.empty() && one.texts.back().starts_with("--")) return lacks_value(*one.flag);
    if (one.flag->path && one.texts.back().empty()) return lacks_value(*one.flag);
    if (Status status = std::visit(Assign{*one.flag, one.texts}, one.flag->target); !status) return status;
  }
  return Status::success();
}

}  // namespace sonde::cli
