// Reports as a few labelled lines for people: what went in, what was found, how long, where it went.
//
// Numbers are rounded for reading; whoever needs all digits takes the JSON. No colour, no width: the
// caller knows its terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gcbs/version.h"
#include "report/report.h"
#include "report/text_parts.h"

namespace gcbs {
namespace {

std::string threshold_text(const OrderReport& report) {
  const Threshold& threshold = *report.result.threshold;
  if (std::isinf(threshold.value)) return "none: there are no more admissible pairs than were asked for";
  std::string text = fmt::format("{:.6f}  {}", threshold.value, name_of(threshold.mode));
  if (threshold.low != threshold.high)
    text += fmt::format(", between {:.6f} and {:.6f}", threshold.low, threshold.high);
  return text + fmt::format(", quantile {:.8g}", report.result.quantile);
}

std::string order_text(const OrderReport& report) {
  const std::size_t size = report.options.batch_size;
  const std::size_t whole = report.rows / size, rest = report.rows % size;
  std::string text =
      fmt::format("{}, {} batches of {}", name_of(report.options.ordering.method), grouped(whole), size);
  if (rest != 0) text += fmt::format(" and one of {}", rest);
  if (report.result.swaps) text += fmt::format(", {} swaps", grouped(*report.result.swaps));
  return text;
}

/// How the order became batches; empty where they are its blocks.
std::string batches_text(const OrderReport& report) {
  const BatchOptions& options = report.options.batches;
  const BatchReport& made = report.result.batches;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (options.block != 0 && options.block < report.options.batch_size)
    add(fmt::format("blocks of {} mixed", options.block));
  if (options.random_share > 0) add(fmt::format("{:.4g} % drawn at random", 100 * options.random_share));
  if (options.epoch) add(fmt::format("sequence of epoch {}", *options.epoch));
  if (made.moved > 0)
    add(fmt::format("{} rows moved to keep groups and suspects apart", grouped(made.moved)));
  if (made.suspects_in_batch) add(fmt::format("{} suspect pairs left", grouped(*made.suspects_in_batch)));
  if (options.extra > 0) add(fmt::format("{} extra columns a batch", options.extra));
  return text;
}

/// What the order is worth, and a warning where its batches look unsafe.
std::vector<std::string> verdict_texts(const Verdict& verdict, bool has_margins) {
  constexpr double kManyOutrank = 0.05, kManySuspects = 0.02;
  std::vector<std::string> texts{fmt::format(
      "closes {:.0f} % of the gap to the global loss (random 0 %), 95 % sure of {:.0f} to {:.0f} %",
      100 * verdict.gap_closed, 100 * verdict.low, 100 * verdict.high)};
  if (has_margins) {
    const std::string left_out = fmt::format(
        "{:.2f} % of all pairs are suspects by the margins, and left out", 100 * verdict.suspects);
    texts.push_back(verdict.suspects < kManySuspects
                        ? left_out
                        : "warning: " + left_out +
                              ": these embeddings hardly know their positives; without margins "
                              "(--relative-margin none) all count");
    return texts;
  }
  const std::string share = fmt::format("{:.1f} % of the kept edges are more similar than their own positive",
                                        100 * verdict.outranking);
  texts.push_back(verdict.outranking < kManyOutrank
                      ? share
                      : "warning: " + share +
                            ", so some may be false negatives: look with gcbs gap --relative-margin 0.05");
  return texts;
}

std::string listed(const std::vector<Isa>& isas) {
  std::string text;
  for (const Isa isa : isas) text += (text.empty() ? "" : ", ") + std::string(name_of(isa));
  return text;
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.1f} ms", seconds * 1e3);
}

std::string stages_text(double seconds, const std::vector<Stage>& stages) {
  std::string text = seconds_text(seconds);
  const char* separator = "  ";
  for (const Stage& stage : stages) {
    if (stage.seconds < 0.01 * seconds) continue;
    text += fmt::format("{}{} {}", separator, stage.name, seconds_text(stage.seconds));
    separator = ", ";
  }
  return text;
}

std::string memory_text(std::uint64_t peak_bytes, Isa isa, unsigned threads) {
  return fmt::format("{} at most  {}, {} thread{}", bytes_text(peak_bytes), name_of(isa), threads,
                     threads == 1 ? "" : "s");
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::vector<ReportLine> lines_of(const OrderReport& report) {
  const OrderResult& result = report.result;
  const std::string files =
      report.x_path == report.y_path ? report.x_path : report.x_path + ", " + report.y_path;
  std::vector<ReportLine> lines;
  lines.push_back({"pairs", fmt::format("{} x {}  {}", grouped(report.rows), report.dim, files)});
  if (result.threshold) {
    const double a_row =
        static_cast<double>(result.edge_count) / static_cast<double>(std::max<std::size_t>(report.rows, 1));
    lines.push_back({"threshold", threshold_text(report)});
    std::string edges = fmt::format("{}  {:.1f} a row", grouped(result.edge_count), a_row);
    if (report.options.filter.is_on())
      edges += fmt::format(", {} rows have none", grouped(result.rows_without_edges));
    lines.push_back({"edges", edges});
  }
  lines.push_back({"order", order_text(report)});
  if (const std::string text = batches_text(report); !text.empty()) lines.push_back({"batches", text});
  if (result.verdict) {
    const char* label = "verdict";
    for (const std::string& text : verdict_texts(*result.verdict, report.options.filter.has_margins()))
      lines.push_back({std::exchange(label, ""), text});
  }
  lines.push_back({"time", stages_text(report.seconds, result.stages)});
  if (result.threshold)
    lines.push_back({"memory", memory_text(result.peak_bytes, result.isa, result.threads)});
  if (!report.output_path.empty()) lines.push_back({"written", report.output_path});
  if (!report.edges_path.empty()) lines.push_back({"", report.edges_path});
  if (!report.extra_path.empty()) lines.push_back({"", report.extra_path});
  for (const std::string& path : report.reordered_paths) lines.push_back({"", path});
  return lines;
}

std::vector<ReportLine> lines_of(const MachineReport& report) {
  return {{"version", GCBS_VERSION},
          {"compiled", listed(report.compiled)},
          {"available", listed(report.available)},
          {"chosen", name_of(report.chosen)},
          {"cores", std::to_string(report.cores)}};
}

}  // namespace gcbs
