#include "report/json_parts.h"

namespace gcbs {

Json stages_json(const std::vector<Stage>& stages) {
  Json list = Json::array();
  for (const Stage& stage : stages) list.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
  return list;
}

Json threshold_json(const std::optional<Threshold>& threshold) {
  if (!threshold) return nullptr;
  return {{"mode", name_of(threshold->mode)},
          {"value", threshold->value},
          {"low", threshold->low},
          {"high", threshold->high}};
}

Json number_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json count_json(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json path_json(const std::string& path) { return path.empty() ? Json(nullptr) : Json(path); }

void add_batch_options(Json& options, const BatchOptions& batches) {
  options["block"] = batches.block == 0 ? options["batch_size"] : Json(batches.block);
  options["random_share"] = batches.random_share;
  options["epoch"] = count_json(batches.epoch);
  options["extra"] = batches.extra;
}

Json limit_json(std::uint64_t memory_limit) { return memory_limit == 0 ? Json(nullptr) : Json(memory_limit); }

void add_graph_options(Json& options, const PipelineOptions& run, double quantile, std::size_t rows) {
  options["quantile"] = quantile;
  options["neighbours"] = run.similarity.quantile
                              ? (1 - *run.similarity.quantile) * static_cast<double>(rows)
                              : run.similarity.neighbours.value_or(static_cast<double>(run.batch_size));
}

void add_filter_options(Json& options, const FilterOptions& filter, const FilterPaths& paths) {
  options["groups"] = paths.groups;
  options["relative_margin"] = number_json(filter.relative_margin);
  options["absolute_margin"] = number_json(filter.absolute_margin);
  options["max_score"] = number_json(filter.max_score);
  options["symmetric"] = filter.symmetric;
  options["guide_x"] = path_json(paths.guide_x);
  options["guide_y"] = path_json(paths.guide_y);
  options["skip_top"] = filter.skip_top;
}

std::string printed(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gcbs
