// Order of work: groups apart in blocks, blocks mixed into batches, a share of every batch drawn at random,
// groups apart in batches, suspects out, the batches' sequence. Repairs come after what may break them, so
// that whatever chance brings together, no batch ends with mates.
#include "batches/make_batches.h"

#include <string>

#include "batches/arrange.h"
#include "batches/separate_groups.h"
#include "batches/suspects_out.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

/// Marks the rows whose part of `size` rows is another one than before.
void mark_moved(const std::vector<Vertex>& before, const std::vector<Vertex>& after, std::size_t size,
                std::vector<bool>& moved) {
  std::vector<Vertex> part(before.size());
  for (std::size_t p = 0; p < before.size(); ++p) part[before[p]] = static_cast<Vertex>(p / size);
  for (std::size_t p = 0; p < after.size(); ++p)
    if (part[after[p]] != p / size) moved[after[p]] = true;
}

}  // namespace

void check_batch_options(const BatchOptions& options, std::size_t batch_size) {
  if (options.block != 0 && (options.block > batch_size || batch_size % options.block != 0))
    throw Error(ErrorKind::usage,
                "blocks of " + std::to_string(options.block) + " do not fill a batch of " +
                    std::to_string(batch_size),
                "a batch is made of whole blocks", "use a block size that divides the batch size");
  if (!(options.random_share >= 0 && options.random_share <= 1))
    throw Error(ErrorKind::usage, "random share " + std::to_string(options.random_share) + " is out of range",
                "it is a share of every batch", "use a number from 0 to 1");
  if (!(options.temperature > 0))
    throw Error(ErrorKind::usage, "temperature " + std::to_string(options.temperature) + " is out of range",
                "similarities are divided by it", "use a number above 0, for example 0.05");
}

MadeBatches make_batches(std::vector<Vertex> order, const BatchRules& rules, const RunContext& run) {
  const BatchOptions& options = rules.options;
  const std::size_t size = rules.batch_size;
  check_batch_options(options, size);
  MadeBatches made;
  made.report.batches = (order.size() + size - 1) / size;
  std::vector<bool> moved(order.size(), false);
  const auto separate = [&](std::size_t part_size, const SuspectTest* is_suspect) {
    Seating seating(order, part_size, rules.groups, rules.graph, run);
    separate_groups(seating, rules.ids, part_size, run);
    if (is_suspect != nullptr) made.report.suspects_in_batch = keep_suspects_out(seating, *is_suspect, run);
    std::vector<Vertex> apart = seating.take();
    mark_moved(order, apart, part_size, moved);
    order = std::move(apart);
  };

  if (options.block != 0 && options.block < size) {
    if (!rules.groups.empty()) separate(options.block, nullptr);
    order = mix_blocks(order, options.block, size, rules.groups, rules.seed);
  }
  if (options.random_share > 0) order = draw_share(std::move(order), size, options.random_share, rules.seed);
  if (!rules.groups.empty() || rules.is_suspect)
    separate(size, rules.is_suspect ? &rules.is_suspect : nullptr);
  if (options.epoch) order = shuffle_batches(order, size, rules.seed, *options.epoch);
  for (const bool row : moved) made.report.moved += row;
  made.order = std::move(order);
  return made;
}

double make_batches_bytes(std::size_t rows, std::size_t lists) {
  return static_cast<double>(rows) * (40 + 72 * static_cast<double>(lists));
}

}  // namespace gcbs
