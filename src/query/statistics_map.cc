// A statistic of many tensors over steps, as a map draws it.
#include <cmath>
#include <utility>

#include "query/answers.h"
#include "query/binary.h"

namespace sonde::query {

Result<Answer> answer_statistics_map(const Context& context, const Body& body) {
  const Result<Statistic> statistic = statistic_of(body.statistic);
  if (!statistic) return statistic.error();
  constexpr std::size_t kCell = 3 * sizeof(double) + 3 * sizeof(std::uint32_t);
  if (body.tags.size() * static_cast<std::size_t>(body.width) * kCell > kLargestAnswer) {
    return Status(Code::exhausted, "the answer would have more than 256 MiB; ask for fewer tags or a smaller width");
  }
  const Catalogue::Item* item = context.catalogue->find(body.run);
  if (item == nullptr) return Status(Code::not_found, "there is no run '" + body.run + "'");
  const Run& run = item->entry->run;
  const auto map = run.statistics_map(body.tags, *statistic, body.width, range_of(run, AxisName::step, body.range));
  if (!map) return map.error();

  BinaryWriter out;
  out.text("SNDM");
  out.put(std::uint32_t{1});
  out.put(static_cast<std::uint32_t>(body.tags.size()));
  out.put(static_cast<std::uint32_t>(map->width));
  out.put(static_cast<double>(map->first_step));
  out.put(static_cast<double>(map->last_step));
  for (const bool found : map->found) out.put(std::uint32_t{found ? 0U : 1U});
  out.align();
  for (const auto* column : {&map->min, &map->mean, &map->max}) out.column(std::span<const double>(*column));
  for (const auto* column : {&map->count, &map->nan, &map->infinite}) {
    out.column(std::span<const std::uint32_t>(*column));
  }
  out.align();
  Answer answer;
  answer.content_type = "application/octet-stream";
  answer.body = out.take();
  return answer;
}

}  // namespace sonde::query
