// Gap reports for people: labelled numbers (gap), or a table with the best order marked (compare).
#include <fmt/format.h>

#include <algorithm>

#include "report/gap_report.h"
#include "report/report.h"
#include "report/text_parts.h"

namespace gcbs {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", *share * 100) : "-";
}

std::string aligned_lines(const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [label, text] : lines) width = std::max(width, label.size());
  std::string out;
  for (const auto& [label, text] : lines) out += fmt::format("{:<{}}  {}\n", label, width, text);
  return out;
}

/// The first column to the left, the others to the right.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += c == 0 ? fmt::format("{:<{}}", row[c], widths[c]) : fmt::format("  {:>{}}", row[c], widths[c]);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string directions(const ByDirection& value, Direction direction) {
  if (direction != Direction::both) return fmt::format("{:.6f}", value[direction]);
  return fmt::format("{:.6f}  x {:.6f}, y {:.6f}", value.both, value.x, value.y);
}

/// What is the same for every order.
Lines common_lines(const GapReport& report) {
  const GapResult& result = report.result;
  const LossOptions& loss = report.options.loss;
  const std::string files =
      report.x_path == report.y_path ? report.x_path : report.x_path + ", " + report.y_path;
  const std::size_t extra = report.options.run.batches.extra;
  return {{"pairs", fmt::format("{} x {}  {}", grouped(report.rows), report.dim, files)},
          {"loss", fmt::format("temperature {}, direction {}, form {}, batches of {}{}", loss.temperature,
                               name_of(loss.direction), name_of(loss.form), report.options.run.batch_size,
                               extra == 0 ? "" : fmt::format(" and {} extra columns for each x", extra))},
          {"global", fmt::format("{}  positive {:.4f}", directions(result.loss_global, loss.direction),
                                 result.probability_global)},
          {"random", fmt::format("{:.6f} +- {:.2g}  over {} orders, positive {:.4f}", result.random.loss_mean,
                                 result.random.loss_deviation, grouped(result.random.trials),
                                 result.random.probability)},
          {"oracle", fmt::format("{:.6f}  closes {}; no order does more", result.oracle_loss,
                                 percent(result.oracle_gap_closed))},
          {"edges", fmt::format("{} above {:.6f}{}", grouped(result.edge_count), result.threshold.value,
                                result.orders.empty() || !result.orders.front().outranking
                                    ? ""
                                    : fmt::format(", {} of them above their own positive",
                                                  percent(result.orders.front().outranking)))}};
}

Lines order_lines(const OrderGap& order, const GapReport& report) {
  const auto share = [&](EdgeIndex edges) {
    return report.result.edge_count == 0
               ? std::optional<double>()
               : static_cast<double>(edges) / static_cast<double>(report.result.edge_count);
  };
  return {{order.name, order.gap_closed ? fmt::format("closes {} of the gap", percent(order.gap_closed))
                                        : std::string("random orders have no gap to close")},
          {"  L_train",
           fmt::format("{}  positive {:.4f}", directions(order.loss_train, report.options.loss.direction),
                       order.probability)},
          {"  gap", fmt::format("{:.6f}  at most {:.4f} (Theorem 1), {:.4f} (Theorem 2)", order.gap,
                                order.bounds.theorem1, order.bounds.theorem2)},
          {"  at least",
           fmt::format("{:.4f} (Lemma 2), {:.4f} (Lemma 3)", order.bounds.lemma2, order.bounds.lemma3)},
          {"  in batches",
           fmt::format("{} edges, {}; {} of them above their own positive", grouped(order.edges_in_batch),
                       percent(share(order.edges_in_batch)), percent(order.outranking_in_batch))},
          {"  objectives", fmt::format("smallest similarity {:.6f} (QBAP), sum {:.6g} (QAP), bandwidth {}",
                                       order.qbap, order.qap, grouped(order.bandwidth))}};
}

bool is_random(const OrderGap& order) {
  return order.name == name_of(Method::random) && order.peak_bytes != 0;  // a file may have that name
}

/// The order that sees the most, where several compete and it beats random ones.
const OrderGap* best_of(const GapResult& result, Direction direction) {
  const OrderGap* best = nullptr;
  for (const OrderGap& order : result.orders)
    if (best == nullptr || order.loss_train[direction] > best->loss_train[direction]) best = &order;
  return result.orders.size() > 1 && best->loss_train[direction] > result.random.loss_mean ? best : nullptr;
}

std::string compare_table(const GapReport& report) {
  const GapResult& result = report.result;
  const Direction direction = report.options.loss.direction;
  const OrderGap* best = best_of(result, direction);
  std::vector<std::vector<std::string>> rows{
      {"order", "L_train", "gap", "closed", "edges in batch", "Theorem 1", "Theorem 2", "seconds", "memory"}};
  for (const OrderGap& order : result.orders) {
    // Of random orders not the one in the list, but the mean of all that were tried.
    const bool random = is_random(order) && report.options.run.batches.extra == 0;
    const double train = random ? result.random.loss_mean : order.loss_train[direction];
    std::string loss = fmt::format("{:.4f}", train);
    if (random) loss += fmt::format(" +- {:.4f}", result.random.loss_deviation);
    rows.push_back({order.name + (&order == best ? " *" : ""), loss,
                    fmt::format("{:.4f}", result.loss_global[direction] - train),
                    percent(random && order.gap_closed ? 0 : order.gap_closed), grouped(order.edges_in_batch),
                    fmt::format("{:.4f}", order.bounds.theorem1),
                    fmt::format("{:.4f}", order.bounds.theorem2),
                    order.peak_bytes == 0 ? "-" : seconds_text(order.seconds),
                    order.peak_bytes == 0 ? "-" : bytes_text(order.peak_bytes)});
  }
  rows.push_back({"oracle", fmt::format("{:.4f}", result.oracle_loss),
                  fmt::format("{:.4f}", result.loss_global[direction] - result.oracle_loss),
                  percent(result.oracle_gap_closed)});
  rows.push_back({"global", fmt::format("{:.4f}", result.loss_global[direction]), "0", ""});
  std::string text = table(rows);
  if (best != nullptr) text += "* sees the most of the global loss\n";
  return text;
}

}  // namespace

std::string text_of(const GapReport& report) {
  std::string text = aligned_lines(common_lines(report));
  if (report.command == "compare") return text + "\n" + compare_table(report);
  for (const OrderGap& order : report.result.orders) text += "\n" + aligned_lines(order_lines(order, report));
  if (!report.per_batch_path.empty()) text += "\nwritten  " + report.per_batch_path + "\n";
  return text;
}

}  // namespace gcbs
