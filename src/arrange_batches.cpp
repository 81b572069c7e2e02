// Batches of an order that is there already: the stage src/batches alone, without embeddings and graph.
#include "batches/feasible.h"
#include "batches/make_batches.h"
#include "checks.h"
#include "gcbs/error.h"

namespace gcbs {

ArrangedBatches arrange_batches(std::span<const std::int64_t> order, std::size_t batch_size,
                                const std::vector<std::vector<std::int64_t>>& groups,
                                const BatchOptions& options, std::uint64_t seed, Observer* observer) {
  if (batch_size == 0)
    throw Error(ErrorKind::usage, "a batch of 0 rows holds nothing", {}, "use a batch size of 1 or more");
  check_batch_options(options, batch_size);
  std::vector<Vertex> rows = checked_order("the order", order, order.size());
  const Groups mates(groups, rows.size());
  check_feasible(mates, groups, rows.size(), batch_size);
  const RunContext run{1, observer, nullptr};
  MadeBatches made =
      make_batches(std::move(rows), {batch_size, options, seed, mates, groups, nullptr, {}}, run);
  return {{std::move(made.order)}, made.report};
}

}  // namespace gcbs
