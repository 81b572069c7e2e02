// The flags that say which negatives count (contract C10), and the files that they name.
#include <CLI/CLI.hpp>

#include "shared_flags.h"
#include "values.h"

namespace gcbs::cli {
namespace {

constexpr std::uint64_t kMostSkipped = 0x7fffffff;
constexpr const char* kDuplicates = "duplicates";
constexpr const char* kNoMargin = "none";

constexpr Flag kRelativeMargin{"--relative-margin", "--relative-margin 0.05"},
    kAbsoluteMargin{"--absolute-margin", "--absolute-margin 0.1"},
    kMaxScore{"--max-score", "--max-score 0.9"}, kSkipTop{"--skip-top", "--skip-top 10"};

CLI::Option* add_filter(CLI::App& verb, const char* name, auto& word, const std::string& text) {
  return verb.add_option(name, word, text)->group("False negatives");
}

void resolve_margins(const FilterFlags& flags, std::optional<double> by_default, FilterOptions& options) {
  if (!flags.relative_margin && !flags.absolute_margin && !flags.max_score)
    options.relative_margin = by_default;
  if (flags.relative_margin && *flags.relative_margin != kNoMargin) {
    options.relative_margin = real_number(kRelativeMargin, *flags.relative_margin);
    if (!(*options.relative_margin >= 0 && *options.relative_margin <= 1))
      throw wrong_value(kRelativeMargin, *flags.relative_margin, "a number from 0 to 1, or none");
  }
  if (flags.absolute_margin) {
    options.absolute_margin = real_number(kAbsoluteMargin, *flags.absolute_margin);
    if (!(*options.absolute_margin >= 0 && *options.absolute_margin <= 2))
      throw wrong_value(kAbsoluteMargin, *flags.absolute_margin, "a number from 0 to 2");
  }
  if (flags.max_score) options.max_score = real_number(kMaxScore, *flags.max_score);
}

/// As with X and Y, one side may stand for both where the data has one side.
void resolve_guide(const FilterFlags& flags, bool one_side, FilterRequest& request) {
  if (!flags.guide_x && !flags.guide_y) return;
  request.guide_x = needed(flags.guide_x, "--guide-x", "a guide needs its embeddings of X",
                           "for example --guide-x GX.npy --guide-y GY.npy");
  if (!flags.guide_y && !one_side)
    throw Error(ErrorKind::usage, "--guide-y is missing", "X and Y differ, so their guides do",
                "for example --guide-x GX.npy --guide-y GY.npy");
  request.guide_y = flags.guide_y ? needed(flags.guide_y, "the name after --guide-y",
                                           "an empty name is no file", "for example --guide-y GY.npy")
                                  : request.guide_x;
}

}  // namespace

void declare_filter(CLI::App& verb, FilterFlags& flags, const char* what, const char* groups,
                    const char* margin) {
  add_filter(verb, "--groups", flags.groups,
             "whole numbers, one a row: rows with the same number are " + std::string(what) + groups +
                 "; may be repeated")
      ->type_name("FILE.npy")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_filter(
      verb, "--relative-margin", flags.relative_margin,
      std::string("nor are pairs more similar than (1 - V) times their positive; 0 <= V <= 1") + margin)
      ->type_name("V");
  add_filter(verb, "--absolute-margin", flags.absolute_margin,
             "nor pairs more similar than their positive less V")
      ->type_name("V");
  add_filter(verb, "--max-score", flags.max_score, "nor pairs more similar than V")->type_name("V");
}

void declare_pair_filter(CLI::App& verb, FilterFlags& flags, const char* what, const char* margin) {
  declare_filter(verb, flags, what, "; or the word duplicates: rows with equal x or equal y", margin);
  verb.add_flag("--symmetric", flags.symmetric,
                "judge a pair by the largest of s(x_i,y_j), s(x_j,y_i), s(x_i,x_j), s(y_i,y_j)")
      ->group("False negatives");
  add_filter(verb, "--guide-x", flags.guide_x, "judge by another model's embeddings of X, and its positives")
      ->type_name("FILE");
  add_filter(verb, "--guide-y", flags.guide_y, "and of Y")->type_name("FILE");
  add_filter(verb, "--skip-top", flags.skip_top,
             "the R most similar admissible columns of each row of X are no edges (range_min of "
             "sentence-transformers)")
      ->type_name("R");
}

FilterRequest resolve_filter(const FilterFlags& flags, bool one_side, std::optional<double> margin) {
  FilterRequest request;
  for (const std::string& word : flags.groups) {
    if (word == kDuplicates)
      request.options.duplicates = true;
    else
      request.group_files.push_back(needed(word, "the name after --groups", "an empty name is no file",
                                           "for example --groups ids.npy"));
  }
  resolve_margins(flags, margin, request.options);
  resolve_guide(flags, one_side, request);
  request.options.symmetric = flags.symmetric;
  if (flags.skip_top) request.options.skip_top = whole_number(kSkipTop, *flags.skip_top, 0, kMostSkipped);
  if ((request.options.symmetric || !request.guide_x.empty()) && !request.options.has_margins())
    throw Error(ErrorKind::usage,
                std::string(request.options.symmetric ? "--symmetric" : "--guide-x") + " needs a margin",
                "it says by which similarities suspects are judged, and without a margin there are none",
                "add for example --relative-margin 0.05");
  return request;
}

std::vector<std::string> FilterRequest::files() const {
  std::vector<std::string> files = group_files;
  if (!guide_x.empty()) files.insert(files.end(), {guide_x, guide_y});
  return files;
}

FilterPaths FilterRequest::paths() const {
  FilterPaths paths{group_files, guide_x, guide_y};
  if (options.duplicates) paths.groups.emplace_back(kDuplicates);
  return paths;
}

FilterFiles read_filter(const FilterRequest& request, std::size_t rows) {
  FilterFiles files;
  files.options = request.options;
  files.options.groups = read_groups(request.group_files, rows);
  if (request.guide_x.empty()) return files;
  files.guides.push_back(open_matrix(request.guide_x));
  files.guides.push_back(request.guide_y == request.guide_x ? files.guides[0] : open_matrix(request.guide_y));
  files.options.guide_x = files.guides[0].view;
  files.options.guide_y = files.guides[1].view;
  return files;
}

std::vector<std::vector<std::int64_t>> read_groups(const std::vector<std::string>& files, std::size_t rows) {
  std::vector<std::vector<std::int64_t>> groups;
  for (const std::string& file : files) {
    groups.push_back(read_integers(file));
    if (groups.back().size() != rows)
      throw Error(ErrorKind::input,
                  file + " has " + std::to_string(groups.back().size()) + " group ids for " +
                      std::to_string(rows) + " rows",
                  "every row belongs to one group", "give one id a row, in the order of the rows");
  }
  return groups;
}

void refuse_paper_filter(const FilterRequest& request, const SimilarityOptions& similarity, bool paper) {
  const bool on = request.options.is_on() || !request.files().empty();
  if (on && similarity.threshold == ThresholdMode::paper)
    throw contradiction(paper ? "--paper" : "--threshold paper", "a filter of negatives",
                        "the paper's listing keeps every pair above its threshold");
}

}  // namespace gcbs::cli
