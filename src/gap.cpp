// Graph -> orders -> losses: what every order comes to, and what random ones come to.
//
// Everything that can be refused is refused before work starts. The graph's operands are gone before those
// of the losses are made.
#include "gcbs/gap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/memory.h"
#include "base/run.h"
#include "base/run_frame.h"
#include "batch_maker.h"
#include "batches/feasible.h"
#include "checks.h"
#include "edge_stats.h"
#include "find_order.h"
#include "gcbs/error.h"
#include "graph/graph.h"
#include "graph_filter.h"
#include "oracle.h"
#include "similarity/edge_values.h"
#include "similarity/find_edges.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

void check_loss_options(const LossOptions& options, bool has_negatives, bool has_extra) {
  if (!(options.temperature > 0) || !std::isfinite(options.temperature))
    throw Error(ErrorKind::usage, "temperature " + std::to_string(options.temperature) + " is out of range",
                "similarities are divided by it", "use a number above 0, for example 0.05");
  if (options.random_trials < 1)
    throw Error(ErrorKind::usage, "0 random trials have no mean", "the gap is measured against random orders",
                "use 1 or more");
  if (options.form == Form::simclr && (has_negatives || has_extra))
    throw Error(ErrorKind::usage, "the simclr form has no extra negatives",
                "its views are contrasted with each other only", "use the clip form, or leave them out");
}

bool packs(const GapOptions& options) {
  return std::find(options.methods.begin(), options.methods.end(), Method::pack) != options.methods.end();
}

/// The graph, then the losses; the graph's edges stay.
double expected_bytes(const MatrixView& x, const GapOptions& options, double quantile, bool has_negatives,
                      unsigned threads) {
  const auto n = static_cast<double>(x.rows);
  const double operand = 2 * operand_bytes(x.rows, x.cols);
  const double parts = options.loss.form == Form::simclr ? 3 : has_negatives ? 2 : 1;
  const double judged_parts = options.loss.filter.symmetric ? 2 : 0;
  const double edges = (1 - quantile) * n * n * 4.2;
  const double losses =
      edges + parts * operand * 0.7 + 900 * n + 32e6 +
      oracle_bytes(x.rows, x.cols, options.run.batch_size, options.loss.filter.has_margins(), threads);
  const bool kept = options.loss.filter.has_margins() || options.run.batches.extra > 0;
  const double made =
      (1 - quantile) * n * n * 8 + 200 * n + 32e6 + (kept ? 2 * fine_bytes(x.rows, x.cols) : 0) +
      batch_maker_bytes(options.run.batches, x.rows, (1 - quantile) * n * n,
                        options.loss.filter.groups.size() + (options.loss.filter.duplicates ? 2 : 0));
  const double pack =
      packs(options)
          ? expected_pack_bytes(x.rows, x.cols, (1 - quantile) * n * n,
                                options.run.batches.rows_of_block(options.run.batch_size), threads) +
                200 * n + 32e6
          : 0;
  return std::max({expected_graph_bytes(x.rows, x.cols, quantile), made, pack, losses}) +
         judged_parts * operand * 0.7 + filter_bytes(options.loss.filter, x.rows, x.cols, threads);
}

double seconds_of(const std::vector<Stage>& stages) {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.seconds;
  return sum;
}

struct FoundOrder {
  std::string name;
  std::vector<Vertex> rows;
  double seconds = 0;
  std::uint64_t peak_bytes = 0;
  std::optional<BatchReport> made{};
  ExtraColumns extra{};
};

class GapRun {
 public:
  GapRun(const MatrixView& x, const MatrixView& y, const MatrixView* negatives, const GapOptions& options,
         Observer* observer)
      : options_(options), progress_(observer) {
    check_shapes(x, y, options.run.batch_size);
    check_loss_options(options.loss, negatives != nullptr, options.run.batches.extra > 0);
    check_batch_options(options.run.batches, options.run.batch_size);
    batches_ = options.run.batches;
    batches_.temperature = options.loss.temperature;
    if (negatives != nullptr) check_shapes(x, *negatives, options.run.batch_size);
    if (!options.run.ordering.pack.from.empty())
      checked_order(kStartName, options.run.ordering.pack.from, x.rows);
    for (const NamedOrder& order : options.orders)
      orders_.push_back({order.name, checked_order(order.name, order.rows, x.rows), 0, 0});
    check_graph_filter(options.loss.filter, options.run.similarity, x.rows);
    result_.isa = choose_isa(options.run.isa);
    result_.threads = options.run.threads != 0 ? options.run.threads : usable_cores();
    result_.quantile = resolve_quantile(options.run.similarity, options.run.batch_size, x.rows);
    check_memory(expected_bytes(x, options, result_.quantile, negatives != nullptr, result_.threads),
                 options.run.memory_limit,
                 "raise the memory limit, keep fewer neighbours, or use fewer rows");
    run_ = {result_.threads, observer, &meter_};
    progress_.begin("normalise");
    const bool normalised = options.run.similarity.normalised;
    const Rows rows_x(x, normalised, run_), rows_y(y, normalised, run_);
    std::optional<Rows> rows_z;
    if (negatives != nullptr) rows_z.emplace(*negatives, normalised, run_);
    const Edges edges = find_orders(rows_x, rows_y);
    evaluate({rows_x, rows_y, rows_z ? &*rows_z : nullptr}, edges);
    result_.stages = progress_.finish();
    result_.peak_bytes = std::max(most_bytes_, meter_.peak_bytes());
  }

  GapResult take() { return std::move(result_); }

 private:
  const Kernel& kernel() const { return kernel_for(result_.isa); }

  /// The orders of the methods, before those that were given. Returns the kept edges.
  Edges find_orders(const Rows& x, const Rows& y) {
    SimilarityOptions similarity = options_.run.similarity;
    similarity.seed = options_.run.seed;
    const StageMark mark = [&](std::string_view name) { progress_.begin(name); };
    std::optional<GraphFilter> filter;
    if (options_.loss.filter.is_on()) {
      filter.emplace(options_.loss.filter, count_wanted_edges(similarity, options_.run.batch_size, x.count()),
                     x, y, kernel(), run_, mark);
      if (!options_.methods.empty())
        check_feasible(filter->judge().groups(), options_.loss.filter.groups, x.count(),
                       options_.run.batch_size);
    }
    const bool keeps =
        packs(options_) || batches_.extra > 0 || (filter && QuickJudge::needs_fine(filter->judge()));
    FoundEdges found =
        find_edges(x, y, result_.quantile, similarity, kernel(), run_, mark,
                   filter ? &filter->edges() : nullptr, keeps ? FineRows::keep : FineRows::drop);
    result_.threshold = found.threshold;
    result_.edge_count = found.edges.count();
    progress_.begin("graph");
    Graph graph = build_graph(std::move(found.edges), run_);
    const double shared_seconds = seconds_of(progress_.finish());
    const std::uint64_t shared_bytes = meter_.peak_bytes();
    const std::optional<FinePrepared> fine = std::move(found.fine);
    std::optional<QuickJudge> judge;
    if (filter) judge.emplace(filter->judge(), fine ? &*fine : nullptr, x, y, kernel(), run_);
    BatchMaker maker(batches_, options_.run.batch_size, options_.run.seed, judge ? &*judge : nullptr,
                     options_.loss.filter.groups, &graph, run_);
    const FindOrder how{options_.run.batch_size, batches_.rows_of_block(options_.run.batch_size),
                        judge ? &*judge : nullptr, fine ? &*fine : nullptr};
    std::vector<FoundOrder> orders;
    for (const Method method : options_.methods) {
      OrderingOptions ordering = options_.run.ordering;
      ordering.method = method;
      ordering.seed = options_.run.seed;
      const double before = seconds_of(progress_.finish());
      most_bytes_ = std::max(most_bytes_, meter_.restart_peak());
      progress_.begin("order");
      Array<float> similarities;
      if (method == Method::pack) similarities = edge_values(*fine, x, y, graph.out, kernel(), run_);
      MadeOrder order = find_order(&x, &y, graph, std::move(similarities), ordering, how, run_);
      MadeBatches made = maker.make(std::move(order.order.old_of_new));
      const double own = seconds_of(progress_.finish()) - before;
      orders.push_back(
          {name_of(method), std::move(made.order), own + (needs_graph(method) ? shared_seconds : 0),
           needs_graph(method) ? std::max(shared_bytes, meter_.peak_bytes()) : x.count() * sizeof(Vertex),
           made.report});
    }
    orders_.insert(orders_.begin(), std::make_move_iterator(orders.begin()),
                   std::make_move_iterator(orders.end()));
    if (batches_.extra > 0) {
      progress_.begin("extra");
      maker.weigh(x, y, edge_values(*fine, x, y, graph.out, kernel(), run_));
      for (FoundOrder& order : orders_) order.extra = maker.extras(order.rows);
    }
    return std::move(graph.out);
  }

  void evaluate(const LossRows& rows, const Edges& edges) {
    const std::size_t size = options_.run.batch_size, n = rows.x.count();
    const Direction direction = options_.loss.direction;
    progress_.begin("global");
    const LossModel model(rows.x, rows.y, rows.negatives, options_.loss, kernel(), run_);
    const GlobalLoss global = model.global();
    result_.loss_global = global.loss;
    result_.probability_global = global.probability[direction];
    result_.error_bound = global.error_bound;

    progress_.begin("random");
    // One batch of everything is the global loss: every order then sees it all.
    const bool whole = size == n;
    const TrialLoss random = whole ? TrialLoss{global.loss[direction], 0, global.probability[direction]}
                                   : model.of_random(size, options_.run.seed);
    result_.random = {options_.loss.random_trials, random.mean, random.deviation, random.probability};

    const double random_gap = global.loss[direction] - random.mean;
    const auto closed = [&](double gap) {
      return !whole && random_gap > 0 ? std::optional(1 - gap / random_gap) : std::nullopt;
    };

    progress_.begin("batches");
    const Outranking outranking(edges, model, kernel(), run_);
    for (const FoundOrder& order : orders_) {
      OrderLoss loss = model.of_order(order.rows, size, global, batches_.extra > 0 ? &order.extra : nullptr);
      if (whole) loss.loss = global.loss, loss.probability = global.probability;
      const EdgeStats stats = edge_stats(edges, outranking, order.rows, size, run_);
      OrderGap gap;
      gap.name = order.name;
      gap.loss_train = loss.loss;
      gap.gap = global.loss[direction] - loss.loss[direction];
      gap.gap_closed = closed(gap.gap);
      gap.edges_in_batch = stats.in_batch;
      gap.outranking = outranking.share();
      gap.outranking_in_batch = stats.outranking_in_batch;
      gap.bandwidth = stats.bandwidth;
      gap.bounds = loss.bounds;
      gap.qbap = loss.qbap;
      gap.qap = loss.qap;
      gap.probability = loss.probability[direction];
      gap.seconds = order.seconds;
      gap.peak_bytes = order.peak_bytes;
      gap.batches = std::move(loss.batches);
      gap.made = order.made;
      result_.orders.push_back(std::move(gap));
    }

    progress_.begin("oracle");
    result_.oracle_loss =
        whole ? global.loss[direction] : oracle_loss(rows, model, options_.loss, size, kernel(), run_);
    result_.oracle_gap_closed = closed(global.loss[direction] - result_.oracle_loss);
  }

  const GapOptions& options_;
  Progress progress_;
  MemoryMeter meter_;
  std::uint64_t most_bytes_ = 0;  ///< before the meter's last restart
  RunContext run_;
  BatchOptions batches_;
  std::vector<FoundOrder> orders_;
  GapResult result_;
};

}  // namespace

GapResult find_gap(const MatrixView& x, const MatrixView& y, const MatrixView* negatives,
                   const GapOptions& options, Observer* observer) {
  const StandardArithmetic arithmetic;
  return GapRun(x, y, negatives, options, observer).take();
}

}  // namespace gcbs
