#include <fmt/format.h>

#include "gcbs/version.h"
#include "report/json_parts.h"
#include "report/mine_report.h"
#include "report/text_parts.h"

namespace gcbs {
namespace {

Json options_json(const MineReport& report) {
  const MiningOptions& options = report.options;
  return {{"x", report.x_path},
          {"corpus", report.corpus_path},
          {"positives", path_json(report.positives_path)},
          {"top", options.top},
          {"skip_top", options.skip_top},
          {"groups", report.group_paths},
          {"relative_margin", number_json(options.relative_margin)},
          {"absolute_margin", number_json(options.absolute_margin)},
          {"max_score", number_json(options.max_score)},
          {"min_score", number_json(options.min_score)},
          {"normalised", options.normalised},
          {"threads", report.result.threads},
          {"isa", name_of(report.result.isa)},
          {"memory_limit", limit_json(options.memory_limit)},
          {"output", path_json(report.output_path)},
          {"scores", path_json(report.scores_path)}};
}

}  // namespace

std::string json_of(const MineReport& report) {
  return printed({{"schema", kJsonSchema},
                  {"command", "mine"},
                  {"version", GCBS_VERSION},
                  {"options", options_json(report)},
                  {"n", report.rows},
                  {"d", report.dim},
                  {"isa", name_of(report.result.isa)},
                  {"threads", report.result.threads},
                  {"corpus", report.corpus_rows},
                  {"top", report.options.top},
                  {"found", report.found},
                  {"output", path_json(report.output_path)},
                  {"scores", path_json(report.scores_path)},
                  {"seconds", report.seconds},
                  {"stages", stages_json(report.result.stages)},
                  {"peak_bytes", report.result.peak_bytes}});
}

std::vector<ReportLine> lines_of(const MineReport& report) {
  const MiningResult& result = report.result;
  std::vector<ReportLine> lines;
  lines.push_back({"rows", fmt::format("{} x {}  {}", grouped(report.rows), report.dim, report.x_path)});
  if (report.corpus_path != report.x_path)
    lines.push_back({"among", fmt::format("{}  {}", grouped(report.corpus_rows), report.corpus_path)});
  const std::size_t wanted = report.rows * report.options.top;
  lines.push_back({"negatives", fmt::format("{}, {} a row", grouped(report.found), report.options.top)});
  if (report.found < wanted)
    lines.push_back(
        {"", fmt::format("{} places are -1: not enough rows are allowed", grouped(wanted - report.found))});
  lines.push_back({"time", stages_text(report.seconds, result.stages)});
  lines.push_back({"memory", memory_text(result.peak_bytes, result.isa, result.threads)});
  if (!report.output_path.empty()) lines.push_back({"written", report.output_path});
  if (!report.scores_path.empty()) lines.push_back({"", report.scores_path});
  return lines;
}

}  // namespace gcbs
