// Methods that read a graph only are order_graph's. pack reads similarities too: of the edges, of the
// positives, and of a few random pairs for what the graph does not show.
#include "find_order.h"

#include <algorithm>

#include "base/random.h"
#include "ordering/order_graph.h"
#include "ordering/pack.h"
#include "similarity/definition.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

constexpr std::size_t kSample = std::size_t{1} << 14;

Array<double> values_of(const Rows& x, const Rows& y, std::span<const FinePair> pairs,
                        const RunContext& run) {
  Array<double> values(pairs.size(), run.meter);
  parallel_for(run, pairs.size(), 1024, [&](std::size_t begin, std::size_t end, unsigned) {
    Definition(x, y).evaluate(pairs.subspan(begin, end - begin), {values.data() + begin, end - begin});
  });
  return values;
}

std::vector<FinePair> random_pairs(std::size_t rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<FinePair> pairs;
  while (pairs.size() < kSample) {
    const auto i = static_cast<Vertex>(random.below(rows)), j = static_cast<Vertex>(random.below(rows));
    if (i != j) pairs.push_back({i, j});
  }
  return pairs;
}

/// Group-mates and suspects do not share a block.
class ApartRules final : public BlockRules {
 public:
  explicit ApartRules(const QuickJudge& judge) : judge_(judge) {}

  bool may_join(Vertex v, std::span<const Vertex> members, Vertex leaving) const override {
    const auto gap = std::find(members.begin(), members.end(), leaving);
    const auto before = static_cast<std::size_t>(gap - members.begin());
    return judge_.fits(v, members.first(before)) &&
           (gap == members.end() || judge_.fits(v, members.subspan(before + 1)));
  }

 private:
  const QuickJudge& judge_;
};

}  // namespace

MadeOrder find_order(const Rows* x, const Rows* y, const Graph& graph, Array<float>&& similarities,
                     const OrderingOptions& options, const FindOrder& how, const RunContext& run) {
  if (options.method != Method::pack) return {order_graph(graph, options, run), {}};
  const std::size_t rows = graph.vertices();
  PackValues values;
  values.similarities = std::move(similarities);
  values.positives = positives_of(*x, *y, run);
  values.sample = values_of(*x, *y, random_pairs(rows, options.seed), run);
  values.temperature = options.pack.temperature;
  values.batch_size = how.batch_size;
  values.rows = how.fine;
  const PackModel model = make_pack_model(graph, std::move(values), options.pack.objective, run);
  std::optional<ApartRules> rules;
  if (how.judge != nullptr && !how.judge->admits_all()) rules.emplace(*how.judge);
  PackedOrder packed =
      order_pack(model, options.pack, how.block_size, rules ? &*rules : nullptr, options.seed, run);
  return {std::move(packed.order), packed.swaps};
}

double expected_pack_bytes(std::size_t rows, std::size_t cols, double edges, std::size_t block_size,
                           unsigned threads) {
  return 8 * edges + pack_bytes(rows, edges, block_size, threads) + 2 * fine_bytes(rows, cols) +
         block_sums_bytes(rows, cols, block_size);
}

}  // namespace gcbs
