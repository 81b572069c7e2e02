// Reports as JSON: one object, two-space indent, keys in a fixed order.
//
// Ensures: every key of the contract is there in every report of its kind; a value that has no
// meaning for a run (the threshold of a method that reads no graph, the rows of `info`) is null,
// never absent. Numbers round-trip. Text that is not UTF-8 (a file name may be anything) has its
// bad bytes replaced, so that the object always parses.
// Determinism: the same input and options give the same text but for seconds and peak_bytes; so the
// default memory limit, which moves with the machine, is null.
#include "gcbs/version.h"
#include "report/json_parts.h"
#include "report/report.h"

namespace gcbs {
namespace {

Json names(const std::vector<Isa>& isas) {
  Json list = Json::array();
  for (const Isa isa : isas) list.push_back(name_of(isa));
  return list;
}

Json verdict_json(const std::optional<Verdict>& verdict) {
  if (!verdict) return nullptr;
  return {
      {"gap_closed", verdict->gap_closed}, {"low", verdict->low},           {"high", verdict->high},
      {"outranking", verdict->outranking}, {"suspects", verdict->suspects}, {"anchors", verdict->anchors}};
}

/// Every option as the run used it, whether it was given or not.
Json options_of(const OrderReport& report) {
  const PipelineOptions& options = report.options;
  const SimilarityOptions& similarity = options.similarity;
  Json json{{"x", report.x_path}, {"y", report.y_path}, {"batch_size", options.batch_size}};
  if (report.result.threshold) {
    add_graph_options(json, options, report.result.quantile, report.rows);
  } else {
    json["quantile"] = nullptr;
    json["neighbours"] = nullptr;
  }
  json["method"] = name_of(options.ordering.method);
  add_pack_options(json, options.ordering.pack);
  json["from"] = path_json(report.from_path);
  json["temperature"] = options.batches.temperature;
  json["threshold"] = name_of(similarity.threshold);
  json["shortcut"] = name_of(similarity.shortcut);
  json["paper"] = report.paper;
  add_filter_options(json, options.filter, report.filter);
  json["normalised"] = similarity.normalised;
  json["verdict"] = options.verdict.has_value();
  json["seed"] = options.seed;
  json["threads"] = report.result.threads;
  json["isa"] = name_of(report.result.isa);
  json["memory_limit"] = limit_json(options.memory_limit);
  add_batch_options(json, options.batches);
  json["extra_output"] = path_json(report.extra_path);
  json["reorder"] = report.reorder_paths;
  json["reordered"] = report.reordered_paths;
  json["edges"] = path_json(report.edges_path);
  json["output"] = path_json(report.output_path);
  return json;
}

}  // namespace

std::string json_of(const OrderReport& report) {
  const OrderResult& result = report.result;
  return printed({{"schema", kJsonSchema},
                  {"command", "order"},
                  {"version", GCBS_VERSION},
                  {"options", options_of(report)},
                  {"n", report.rows},
                  {"d", report.dim},
                  {"isa", name_of(result.isa)},
                  {"threads", result.threads},
                  {"method", name_of(report.options.ordering.method)},
                  {"threshold", threshold_json(result.threshold)},
                  {"edges", result.edge_count},
                  {"rows_without_edges", result.rows_without_edges},
                  {"swaps", count_json(result.swaps)},
                  {"batches", result.batches.batches},
                  {"moved", result.batches.moved},
                  {"suspects_in_batch", count_json(result.batches.suspects_in_batch)},
                  {"verdict", verdict_json(result.verdict)},
                  {"output", path_json(report.output_path)},
                  {"extra_output", path_json(report.extra_path)},
                  {"seconds", report.seconds},
                  {"stages", stages_json(result.stages)},
                  {"peak_bytes", result.peak_bytes}});
}

std::string json_of(const MachineReport& report) {
  return printed({{"schema", kJsonSchema},
                  {"command", "info"},
                  {"version", GCBS_VERSION},
                  {"options", Json::object()},
                  {"n", nullptr},
                  {"d", nullptr},
                  {"isa", name_of(report.chosen)},
                  {"threads", report.cores},
                  {"compiled", names(report.compiled)},
                  {"available", names(report.available)},
                  {"chosen", name_of(report.chosen)},
                  {"cores", report.cores},
                  {"seconds", report.seconds},
                  {"stages", Json::array()},
                  {"peak_bytes", 0}});
}

}  // namespace gcbs
