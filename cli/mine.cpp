// `gcbs mine`: for each row its hardest negatives.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "files.h"
#include "gcbs/io.h"
#include "gcbs/mining.h"
#include "progress.h"
#include "report/mine_report.h"
#include "shared_flags.h"
#include "signals.h"
#include "stopwatch.h"
#include "values.h"
#include "verbs.h"

namespace gcbs::cli {
namespace {

constexpr const char* kExample = "gcbs mine X.npy Y.npy --top 5 -o negatives.npy";
constexpr Flag kTop{"--top", "--top 5"}, kSkipTop{"--skip-top", "--skip-top 10"},
    kMinScore{"--min-score", "--min-score 0.2"};

struct MineFlags {
  InputFlags inputs;
  FilterFlags filter;
  RunFlags run;
  Word top, skip_top, min_score, corpus, positives, output, scores;
};

struct MineRequest {
  std::string x, corpus, positives, output, scores;   ///< positives, scores: empty for none
  std::vector<std::string> group_files, group_words;  ///< words: as they were given
  MiningOptions options;
  bool json = false, quiet = false;
};

std::string file_after(const Word& word, const std::string& flag) {
  if (!word) return {};
  return needed(word, "the name after " + flag, "an empty name is no file",
                "for example " + flag + " file.npy");
}

MineRequest resolve(const MineFlags& flags) {
  MineRequest request;
  const InputFiles files = resolve_inputs(flags.inputs, kExample);
  if (flags.inputs.y && flags.corpus)
    throw contradiction("Y", "--corpus", "the corpus holds the rows of Y, and more");
  if (flags.positives && !flags.corpus)
    throw Error(ErrorKind::usage, "--positives needs --corpus", "row i of Y is the positive of row i of X",
                "add --corpus C.npy, or leave it out");
  request.x = files.x;
  request.corpus = flags.corpus ? file_after(flags.corpus, "--corpus") : files.y;
  request.positives = file_after(flags.positives, "--positives");
  request.output =
      needed(flags.output, "-o", "the negatives have to go somewhere", "add for example -o negatives.npy");
  request.scores = file_after(flags.scores, "--scores");
  MiningOptions& options = request.options;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  options.top = whole_number(
      kTop, needed(flags.top, "--top", "it says how many negatives a row gets", "add for example --top 5"), 1,
      kMost);
  if (flags.skip_top) options.skip_top = whole_number(kSkipTop, *flags.skip_top, 0, kMost);
  const FilterRequest filter = resolve_filter(flags.filter);
  request.group_files = filter.group_files;
  request.group_words = filter.paths().groups;
  options.duplicates = filter.options.duplicates;
  options.relative_margin = filter.options.relative_margin;
  options.absolute_margin = filter.options.absolute_margin;
  options.max_score = filter.options.max_score;
  if (flags.min_score) options.min_score = real_number(kMinScore, *flags.min_score);
  options.normalised = flags.inputs.normalised;
  const RunOptions run = resolve_run(flags.run);
  options.threads = run.threads;
  options.isa = run.isa;
  options.memory_limit = run.memory_limit;
  request.json = flags.run.json;
  request.quiet = flags.run.quiet;
  return request;
}

void write_outputs(const MineRequest& request, const MiningResult& result) {
  WritePhase phase;
  if (!request.scores.empty())
    write_npy(request.scores, std::span<const float>(result.scores), result.top, phase.files());
  write_npy(request.output, std::span<const std::int64_t>(result.negatives), result.top, phase.files());
  phase.commit();
}

MineReport mine_files(MineRequest& request, Progress& progress) {
  progress.begin_stage("read");
  const Stopwatch reading;
  const FileMatrix x = open_matrix(request.x);
  const FileMatrix corpus = request.corpus == request.x ? x : open_matrix(request.corpus);
  if (!request.positives.empty()) request.options.positives = read_integers(request.positives);
  request.options.groups = read_groups(request.group_files, x.view.rows);
  const Stage read{"read", reading.seconds()};
  check_stop();

  progress.set_rows(x.view.rows);
  MineReport report;
  report.x_path = request.x;
  report.corpus_path = request.corpus;
  report.positives_path = request.positives;
  report.group_paths = request.group_words;
  report.output_path = request.output;
  report.scores_path = request.scores;
  report.rows = x.view.rows;
  report.corpus_rows = corpus.view.rows;
  report.dim = x.view.cols;
  report.result = mine_negatives(x.view, corpus.view, request.options, &progress);
  const auto& negatives = report.result.negatives;
  report.found =
      negatives.size() - static_cast<std::size_t>(std::count(negatives.begin(), negatives.end(), -1));
  progress.begin_stage("write");
  const Stopwatch writing;
  write_outputs(request, report.result);
  report.result.stages.insert(report.result.stages.begin(), read);
  report.result.stages.push_back({"write", writing.seconds()});
  report.options = request.options;
  return report;
}

void run_mine(MineRequest request, Terminal& terminal) {
  const Stopwatch total;
  std::vector<std::string> inputs{request.x, request.corpus};
  if (!request.positives.empty()) inputs.push_back(request.positives);
  inputs.insert(inputs.end(), request.group_files.begin(), request.group_files.end());
  check_outputs(std::array{OutputFlag{"-o", request.output}, OutputFlag{"--scores", request.scores}}, inputs);
  Progress progress(terminal, request.quiet);
  MineReport report = mine_files(request, progress);
  progress.finish();
  report.seconds = total.seconds();
  if (!request.quiet) terminal.print(lines_of(report));
  if (request.json) print_result(json_of(report));
}

}  // namespace

Verb declare_mine(CLI::App& program) {
  CLI::App* verb = program.add_subcommand(
      "mine",
      "Find the hardest negatives of each row: the most similar that are not its own.\n"
      "Usage: gcbs mine X [Y] --top L -o NEGATIVES.npy [flags]\n\n"
      "Exact; ties go to the lower index. Margins mean what they mean in\n"
      "sentence-transformers' mine_hard_negatives: a negative is judged against the\n"
      "positive of its row.");
  verb->footer("Example:\n  " + std::string(kExample) +
               "\n\n"
               "Exit codes: 0 done, 1 internal, 2 usage, 3 input, 4 unsupported here,\n"
               "5 out of memory or disk, 130 and 143 interrupted.");
  const auto flags = std::make_shared<MineFlags>();
  declare_inputs(*verb, flags->inputs);
  const auto mining = [&](const char* name, Word& word, const char* text, const char* type) {
    verb->add_option(name, word, text)->type_name(type)->group("Mining");
  };
  mining("--top", flags->top, "negatives a row, 1 or more (needed; num_negatives)", "L");
  mining("--skip-top", flags->skip_top,
         "leave out the R most similar that are otherwise allowed (range_min); default 0", "R");
  mining("--corpus", flags->corpus,
         "mine among these rows instead of Y; the first N of them are the rows of Y", "FILE");
  mining("--positives", flags->positives,
         "which row of the corpus is the positive of each row of X: N whole numbers", "FILE.npy");
  declare_filter(*verb, flags->filter, "never negatives of each other",
                 "; or the word duplicates: equal rows of X, and what equals a positive");
  verb->add_option("--min-score", flags->min_score, "nor rows less similar than V")
      ->type_name("V")
      ->group("False negatives");
  verb->add_option("-o,--output", flags->output,
                   "the negatives: int64, N x L, hardest first, -1 where there are fewer (needed)")
      ->type_name("FILE.npy")
      ->group("Output");
  verb->add_option("--scores", flags->scores,
                   "also their similarities: float32, N x L, NaN where there are fewer")
      ->type_name("FILE.npy")
      ->group("Output");
  declare_output(*verb, flags->run);
  declare_run(*verb, flags->run, nullptr);
  verb->add_flag("--normalised", flags->inputs.normalised,
                 "rows are unit vectors already (checked): use them as they are")
      ->group("Mining");
  return {verb, [flags](Terminal& terminal) { run_mine(resolve(*flags), terminal); }};
}

}  // namespace gcbs::cli
