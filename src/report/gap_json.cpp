// Gap reports as JSON (json.cpp says what holds for all of them).
#include "gcbs/version.h"
#include "report/gap_report.h"
#include "report/json_parts.h"

namespace gcbs {
namespace {

Json directions_json(const ByDirection& value) {
  return {{"x", value.x}, {"y", value.y}, {"both", value.both}};
}

Json options_json(const GapReport& report) {
  const PipelineOptions& run = report.options.run;
  const LossOptions& loss = report.options.loss;
  Json json{{"x", report.x_path}, {"y", report.y_path}, {"batch_size", run.batch_size}};
  add_graph_options(json, run, report.result.quantile, report.rows);
  Json methods = Json::array();
  for (const Method method : report.options.methods) methods.push_back(name_of(method));
  json["methods"] = methods;
  json["orders"] = report.order_paths;
  json["threshold"] = name_of(run.similarity.threshold);
  json["shortcut"] = name_of(run.similarity.shortcut);
  json["normalised"] = run.similarity.normalised;
  json["temperature"] = loss.temperature;
  json["direction"] = name_of(loss.direction);
  json["form"] = name_of(loss.form);
  json["negatives"] = path_json(report.negatives_path);
  add_filter_options(json, loss.filter, report.filter);
  json["random_trials"] = loss.random_trials;
  add_batch_options(json, run.batches);
  json["per_batch"] = path_json(report.per_batch_path);
  json["seed"] = run.seed;
  json["threads"] = report.result.threads;
  json["isa"] = name_of(report.result.isa);
  json["memory_limit"] = limit_json(run.memory_limit);
  return json;
}

Json order_json(const OrderGap& order) {
  return {{"name", order.name},
          {"loss_train", directions_json(order.loss_train)},
          {"gap", order.gap},
          {"gap_closed", number_json(order.gap_closed)},
          {"edges_in_batch", order.edges_in_batch},
          {"outranking", number_json(order.outranking)},
          {"outranking_in_batch", number_json(order.outranking_in_batch)},
          {"bandwidth", order.bandwidth},
          {"bounds",
           {{"theorem1", order.bounds.theorem1},
            {"theorem2", order.bounds.theorem2},
            {"lemma2", order.bounds.lemma2},
            {"lemma3", order.bounds.lemma3}}},
          {"qbap", order.qbap},
          {"qap", order.qap},
          {"positive_probability", order.probability},
          {"moved", order.made ? Json(order.made->moved) : Json(nullptr)},
          {"suspects_in_batch", order.made ? count_json(order.made->suspects_in_batch) : Json(nullptr)},
          {"seconds", order.seconds},
          {"peak_bytes", order.peak_bytes}};
}

}  // namespace

std::string json_of(const GapReport& report) {
  const GapResult& result = report.result;
  Json orders = Json::array();
  for (const OrderGap& order : result.orders) orders.push_back(order_json(order));
  return printed(
      {{"schema", kJsonSchema},
       {"command", report.command},
       {"version", GCBS_VERSION},
       {"options", options_json(report)},
       {"n", report.rows},
       {"d", report.dim},
       {"isa", name_of(result.isa)},
       {"threads", result.threads},
       {"loss_global", directions_json(result.loss_global)},
       {"positive_probability", result.probability_global},
       {"error_bound", result.error_bound},
       {"random",
        {{"trials", result.random.trials},
         {"loss_train", {{"mean", result.random.loss_mean}, {"std", result.random.loss_deviation}}},
         {"positive_probability", result.random.probability}}},
       {"oracle",
        {{"loss_train", result.oracle_loss}, {"gap_closed", number_json(result.oracle_gap_closed)}}},
       {"threshold", threshold_json(result.threshold)},
       {"edges", result.edge_count},
       {"orders", orders},
       {"seconds", report.seconds},
       {"stages", stages_json(result.stages)},
       {"peak_bytes", result.peak_bytes}});
}

}  // namespace gcbs
