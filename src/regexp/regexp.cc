#include "regexp/regexp.h"

#include <utility>

#include "regexp/automaton.h"
#include "regexp/parser.h"

namespace sonde {

Result<Regexp> Regexp::compile(std::string_view pattern, regexp::Extent extent, regexp::Dot dot) {
  Result<regexp::Program> program = regexp::parse(pattern, extent, dot);
  if (!program) return program.error();
  return Regexp(std::make_shared<const regexp::Automaton>(*std::move(program)));
}

bool Regexp::matches(std::string_view text) const { return automaton_->matches(text); }

}  // namespace sonde
