// The public call: everything that can be refused is refused before work starts, then the engine runs.
#include <cmath>
#include <limits>
#include <string>

#include "base/memory.h"
#include "base/run.h"
#include "base/run_frame.h"
#include "gcbs/error.h"
#include "gcbs/mining.h"
#include "matrix/equal_rows.h"
#include "matrix/rows.h"
#include "mining/exclusions.h"
#include "mining/top_rows.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

void check_between(const std::optional<double>& value, const char* name, double low, double high,
                   const std::string& fix) {
  if (!value || (*value >= low && *value <= high)) return;
  throw Error(ErrorKind::usage, std::string(name) + " " + std::to_string(*value) + " is out of range", {},
              fix);
}

void check_options(const MiningOptions& options) {
  if (options.top < 1) throw Error(ErrorKind::usage, "0 negatives a row are none", {}, "ask for 1 or more");
  constexpr double kMost = std::numeric_limits<double>::max();
  check_between(options.relative_margin, "relative margin", 0, 1,
                "use a share of the positive's similarity, from 0 to 1 (0.05: at most 95 % as similar)");
  check_between(options.absolute_margin, "absolute margin", 0, 2,
                "use a difference of similarities, from 0 to 2");
  check_between(options.max_score, "maximum score", -kMost, kMost, "use a finite number");
  check_between(options.min_score, "minimum score", -kMost, kMost, "use a finite number");
  if (options.min_score && options.max_score && *options.min_score > *options.max_score)
    throw Error(ErrorKind::usage, "the minimum score is above the maximum score",
                std::to_string(*options.min_score) + " > " + std::to_string(*options.max_score),
                "use a minimum of at most the maximum");
}

void check_shapes(const MatrixView& x, const MatrixView& corpus, const MiningOptions& options) {
  const auto shape = [](const MatrixView& m) {
    return m.name + " is " + std::to_string(m.rows) + " x " + std::to_string(m.cols);
  };
  if (x.cols != corpus.cols)
    throw Error(ErrorKind::input, "the two matrices differ in columns", shape(x) + ", " + shape(corpus),
                "both must come from the same model");
  if (x.rows < 1 || x.cols < 1 || corpus.rows < 2)
    throw Error(ErrorKind::input, "too little data", shape(x) + ", " + shape(corpus),
                "at least 1 row to mine for, 2 to mine among and 1 column are needed");
  constexpr std::size_t kMostRows = std::numeric_limits<std::int32_t>::max();
  if (x.rows > kMostRows || corpus.rows > kMostRows)
    throw Error(ErrorKind::unsupported, "too many rows", shape(x) + ", " + shape(corpus),
                "at most 2^31 - 1 can be mined");
  if (options.skip_top >= corpus.rows - 1)
    throw Error(ErrorKind::input, "skipping " + std::to_string(options.skip_top) + " leaves no negative",
                shape(corpus), "skip fewer than " + std::to_string(corpus.rows - 1));
}

/// Equal rows of X as one more list of groups, equal rows of the corpus as one.
Exclusions exclude_equal_rows(const MatrixView& x, const MatrixView& corpus, const MiningOptions& options,
                              const RunContext& run) {
  std::vector<GroupIds> groups = options.groups;
  const std::vector<std::uint32_t> first = first_equal_rows(x, run);
  groups.emplace_back(first.begin(), first.end());
  return Exclusions(x.rows, corpus.rows, options.positives, groups, first_equal_rows(corpus, run));
}

/// What contract C6 allows: int8 and int16 operands, 20 bytes a negative, O(top + skip) for each row that
/// is being worked on, a little for every row.
double expected_bytes(const MatrixView& x, const MatrixView& corpus, const MiningOptions& options,
                      unsigned threads) {
  const auto rows = static_cast<double>(x.rows), columns = static_cast<double>(corpus.rows);
  const double operands = operand_bytes(x.rows, x.cols) + operand_bytes(corpus.rows, corpus.cols);
  const double negatives =
      rows * static_cast<double>(options.top) * (sizeof(std::int64_t) + sizeof(double) + sizeof(float));
  return operands + negatives + contender_bytes(x.rows, count_wanted(options, corpus.rows), threads) +
         100 * (rows + columns) + 32e6;
}

}  // namespace

MiningResult mine_negatives(const MatrixView& x, const MatrixView& corpus, const MiningOptions& options,
                            Observer* observer) {
  check_options(options);
  check_shapes(x, corpus, options);
  Exclusions exclusions(x.rows, corpus.rows, options.positives, options.groups);
  const StandardArithmetic arithmetic;
  MiningResult result;
  result.rows = x.rows;
  result.top = options.top;
  result.isa = choose_isa(options.isa);
  result.threads = options.threads != 0 ? options.threads : usable_cores();
  check_memory(expected_bytes(x, corpus, options, result.threads), options.memory_limit,
               "raise the memory limit, ask for fewer negatives, or mine for fewer rows at a time");

  MemoryMeter meter;
  const RunContext run{result.threads, observer, &meter};
  Progress progress(observer);
  progress.begin("normalise");
  const Rows rows_x(x, options.normalised, run), rows_corpus(corpus, options.normalised, run);
  if (options.duplicates) exclusions = exclude_equal_rows(x, corpus, options, run);
  TopRows found = find_top_rows(rows_x, rows_corpus, exclusions, options, kernel_for(result.isa), run,
                                [&](std::string_view name) { progress.begin(name); });
  result.scores = Array<float>(found.scores.size(), &meter);
  for (std::size_t p = 0; p < found.scores.size(); ++p)
    result.scores[p] = static_cast<float>(found.scores[p]);
  result.stages = progress.finish();
  result.peak_bytes = meter.peak_bytes();
  result.negatives = std::move(found.columns);
  result.negatives.leave_meter();
  result.scores.leave_meter();
  return result;
}

}  // namespace gcbs
