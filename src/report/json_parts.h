// Pieces that the JSON of several verbs share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gcbs/pipeline.h"
#include "report/report.h"

namespace gcbs {

using Json = nlohmann::ordered_json;

inline constexpr int kJsonSchema = 1;

Json stages_json(const std::vector<Stage>& stages);
/// null where there is none.
Json threshold_json(const std::optional<Threshold>& threshold);
Json number_json(const std::optional<double>& value);
Json count_json(const std::optional<std::uint64_t>& value);
/// A file name, or null for none.
Json path_json(const std::string& path);
/// Bytes, or null for the default, which moves with the machine.
Json limit_json(std::uint64_t memory_limit);
/// quantile and neighbours as the run used them.
void add_graph_options(Json& options, const PipelineOptions& run, double quantile, std::size_t rows);
/// block, random_share, epoch, extra.
void add_batch_options(Json& options, const BatchOptions& batches);
/// Which negatives count.
void add_filter_options(Json& options, const FilterOptions& filter, const FilterPaths& paths);
/// The whole text, ending with a newline.
std::string printed(const Json& json);

}  // namespace gcbs
