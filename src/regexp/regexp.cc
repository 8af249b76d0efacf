#include "regexp/regexp.h"

#include <utility>

#include "regexp/automaton.h"
#include "regexp/parser.h"

namespace sonde::regexp {

Result<Regexp> Regexp::compile(std::string_view pattern, Extent extent, Dot dot) {
  Result<Program> program = parse(pattern, extent, dot);
  if (!program) return program.error();
  return Regexp(std::make_shared<const Automaton>(*std::move(program)));
}

bool Regexp::matches(std::string_view text) const { return automaton_->matches(text); }

}  // namespace sonde::regexp
