// `gcbs gap` and `gcbs compare`: how much of the global loss the batches of an order see. The same numbers,
// shown for one order at a time or as one table.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <sstream>

#include "files.h"
#include "gap_request.h"
#include "gcbs/io.h"
#include "progress.h"
#include "report/gap_report.h"
#include "signals.h"
#include "stopwatch.h"
#include "values.h"
#include "verbs.h"

namespace gcbs::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 internal, 2 usage, 3 input, 4 unsupported here,\n"
    "5 out of memory or disk, 130 and 143 interrupted.";

void write_batches(const std::string& path, const std::vector<BatchLoss>& batches) {
  std::vector<double> values;
  for (const BatchLoss& batch : batches) values.insert(values.end(), {batch.loss, batch.hardness});
  WritePhase phase;
  write_npy(path, values, 2, phase.files());
  phase.commit();
}

GapReport find(GapRequest&& request, const char* command, Progress& progress) {
  progress.begin_stage("read");
  const Stopwatch reading;
  const FileMatrix x = open_matrix(request.x);
  const FileMatrix y = request.y == request.x ? x : open_matrix(request.y);
  std::optional<FileMatrix> negatives;
  if (!request.negatives.empty()) negatives = open_matrix(request.negatives);
  GapOptions& options = request.options;
  for (const OrderFile& file : request.orders)
    options.orders.push_back({file.name, read_integers(file.path)});
  const std::vector<Method>& methods = options.methods;
  PackRequest pack =
      resolve_pack(request.pack, std::find(methods.begin(), methods.end(), Method::pack) != methods.end());
  pack.options.temperature = options.loss.temperature;
  if (!pack.from.empty()) pack.options.from = read_integers(pack.from);
  options.run.ordering.pack = std::move(pack.options);
  const FilterFiles filter = read_filter(request.filter, x.view.rows);
  options.loss.filter = filter.options;
  const Stage read{"read", reading.seconds()};
  check_stop();

  progress.set_rows(x.view.rows);
  GapReport report;
  report.command = command;
  report.x_path = request.x;
  report.y_path = request.y;
  report.negatives_path = request.negatives;
  report.per_batch_path = request.per_batch;
  for (const OrderFile& file : request.orders) report.order_paths.push_back(file.path);
  report.filter = request.filter.paths();
  report.rows = x.view.rows;
  report.dim = x.view.cols;
  report.result = find_gap(x.view, y.view, negatives ? &negatives->view : nullptr, options, &progress);
  report.result.stages.insert(report.result.stages.begin(), read);
  if (!request.per_batch.empty()) {
    progress.begin_stage("write");
    const Stopwatch writing;
    write_batches(request.per_batch, report.result.orders.front().batches);
    report.result.stages.push_back({"write", writing.seconds()});
  }
  report.options = std::move(options);
  return report;
}

void run(GapRequest&& request, const char* command, Terminal& terminal) {
  const Stopwatch total;
  check_outputs(std::array{OutputFlag{"--per-batch", request.per_batch}}, request.inputs());
  const bool json = request.json, quiet = request.quiet;
  Progress progress(terminal, quiet);
  GapReport report = find(std::move(request), command, progress);
  progress.finish();
  report.seconds = total.seconds();
  if (json) {
    if (!quiet) terminal.print(text_of(report));
    print_result(json_of(report));
  } else {
    print_result(text_of(report));
  }
}

/// "rcm,chain". An empty list or name is no method.
std::vector<Method> methods_of(const std::string& list) {
  constexpr Flag kMethods{"--methods", "--methods random,rcm,pack"};
  std::vector<Method> methods;
  std::istringstream text(list + ",");
  for (std::string word; std::getline(text, word, ',');) {
    const auto method = method_from(word);
    if (!method)
      throw wrong_value(kMethods, list, "some of rcm, cm, chain, pack, random, natural, commas between them");
    methods.push_back(*method);
  }
  return methods;
}

}  // namespace

Verb declare_gap(CLI::App& program) {
  constexpr const char* kExample = "gcbs gap X.npy Y.npy -k 64 --method rcm";
  CLI::App* verb = program.add_subcommand(
      "gap",
      "Measure how much of the loss over all pairs the batches of an order see.\n"
      "Usage: gcbs gap X [Y] -k K [--order FILE.npy]... [--method M]... [flags]\n\n"
      "Prints the global loss, the loss in batches, the gap between them, how much of\n"
      "the gap of random batches the order closes, and the paper's bounds. Without\n"
      "--order and --method: the gap of rcm.");
  verb->footer("Example:\n  " + std::string(kExample) + "\n\n" + kExitCodes);
  const auto flags = std::make_shared<GapFlags>();
  declare_gap_flags(*verb, *flags);
  verb->add_option("--method", flags->methods,
                   "an order to compute and judge: rcm, cm, chain, pack, random, natural; may be repeated")
      ->type_name("METHOD")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Batches");
  verb->add_option("--per-batch", flags->per_batch,
                   "also loss and hardness (mean softmax share of the negatives) of every batch of the one "
                   "order: float64, batches x 2")
      ->type_name("FILE.npy")
      ->group("Output");
  return {verb, [flags](Terminal& terminal) {
            GapRequest request = resolve(*flags, kExample);
            if (request.orders.empty() && request.options.methods.empty())
              request.options.methods.push_back(Method::rcm);
            if (!request.per_batch.empty() && request.orders.size() + request.options.methods.size() != 1)
              throw Error(
                  ErrorKind::usage, "--per-batch has room for one order",
                  std::to_string(request.orders.size() + request.options.methods.size()) + " are asked for",
                  "give one --order or --method");
            run(std::move(request), "gap", terminal);
          }};
}

Verb declare_compare(CLI::App& program) {
  constexpr const char* kExample = "gcbs compare X.npy Y.npy -k 64 --methods random,rcm,pack";
  CLI::App* verb = program.add_subcommand(
      "compare",
      "Put several orders beside each other: one objective, one timer, one table.\n"
      "Usage: gcbs compare X [Y] -k K [--methods A,B,...] [--order NAME=FILE]... [flags]");
  verb->footer("Example:\n  " + std::string(kExample) + "\n\n" + kExitCodes);
  const auto flags = std::make_shared<GapFlags>();
  const auto methods = std::make_shared<Word>();
  declare_gap_flags(*verb, *flags);
  verb->add_option("--methods", *methods,
                   "of rcm, cm, chain, pack, random, natural; default random,rcm,chain,pack")
      ->type_name("A,B,...")
      ->group("Batches");
  return {verb, [flags, methods](Terminal& terminal) {
            GapRequest request = resolve(*flags, kExample);
            request.options.methods = methods_of(methods->value_or("random,rcm,chain,pack"));
            run(std::move(request), "compare", terminal);
          }};
}

}  // namespace gcbs::cli
