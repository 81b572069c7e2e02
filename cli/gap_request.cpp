#include "gap_request.h"

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>

#include "values.h"

namespace gcbs::cli {
namespace {

constexpr Flag kTemperature{"--temperature", "--temperature 0.05"},
    kDirection{"--direction", "--direction x"}, kForm{"--form", "--form simclr"},
    kTrials{"--random-trials", "--random-trials 100"};
constexpr std::uint64_t kMostTrials = 1'000'000'000;

/// NAME=FILE, or a file.
OrderFile order_file(const std::string& word) {
  const std::size_t equals = word.find('=');
  std::error_code ignored;
  const bool named = equals != std::string::npos && !std::filesystem::exists(word, ignored);
  const OrderFile file =
      named ? OrderFile{word.substr(0, equals), word.substr(equals + 1)} : OrderFile{word, word};
  if (file.name.empty() || file.path.empty())
    throw Error(ErrorKind::usage, "--order " + word + " names no file", "it takes FILE, or NAME=FILE",
                "for example --order mine=order.npy");
  return file;
}

void resolve_loss(const GapFlags& flags, LossOptions& options) {
  if (flags.temperature) {
    options.temperature = real_number(kTemperature, *flags.temperature);
    if (!(options.temperature > 0)) throw wrong_value(kTemperature, *flags.temperature, "a number above 0");
  }
  constexpr std::array kDirections{"x", "y", "both"};
  constexpr std::array kForms{"clip", "simclr"};
  if (flags.direction) options.direction = choice(kDirection, *flags.direction, kDirections, direction_from);
  if (flags.form) options.form = choice(kForm, *flags.form, kForms, form_from);
  if (flags.random_trials)
    options.random_trials = whole_number(kTrials, *flags.random_trials, 1, kMostTrials);
}

std::string optional_file(const Word& word, const std::string& flag) {
  if (!word) return {};
  return needed(word, "the name after " + flag, "an empty name is no file",
                "for example " + flag + " file.npy");
}

}  // namespace

std::vector<std::string> GapRequest::inputs() const {
  std::vector<std::string> files{x, y};
  if (!negatives.empty()) files.push_back(negatives);
  for (const OrderFile& order : orders) files.push_back(order.path);
  const std::vector<std::string> of_filter = filter.files();
  files.insert(files.end(), of_filter.begin(), of_filter.end());
  return files;
}

void declare_gap_flags(CLI::App& verb, GapFlags& flags) {
  declare_inputs(verb, flags.inputs);
  declare_batch_size(verb, flags.batch_size);
  verb.add_option(
          "--order", flags.orders,
          "an order to judge: int64, N, new position -> old row, named after its file or NAME; may be "
          "repeated")
      ->type_name("[NAME=]FILE.npy")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Batches");
  verb.add_option("--random-trials", flags.random_trials, "random orders to compare with; default 100")
      ->type_name("T")
      ->group("Batches");
  const auto loss = [&](const char* name, auto& word, const char* text) {
    return verb.add_option(name, word, text)->group("Loss");
  };
  loss("--temperature", flags.temperature, "what similarities are divided by; default 0.05")
      ->type_name("TAU");
  loss("--direction", flags.direction,
       "x: each x against all y; y: each y against all x; both (default): their mean")
      ->type_name("WHICH");
  loss("--form", flags.form,
       "clip (default): against the other side; simclr: against both views of all others")
      ->type_name("FORM");
  loss("--negatives", flags.negatives,
       "N more rows, one for each pair, that all x of its batch are contrasted with")
      ->type_name("FILE");
  declare_pair_filter(verb, flags.filter, "no negatives of each other");
  declare_batches(verb, flags.batches);
  declare_graph(verb, flags.graph);
  verb.add_flag("--normalised", flags.inputs.normalised,
                "rows are unit vectors already (checked): use them as they are")
      ->group("Graph");
  declare_output(verb, flags.run);
  declare_run(verb, flags.run, "random orders and estimate");
}

GapRequest resolve(const GapFlags& flags, const char* example) {
  GapRequest request;
  const InputFiles files = resolve_inputs(flags.inputs, example);
  request.x = files.x;
  request.y = files.y;
  request.negatives = optional_file(flags.negatives, "--negatives");
  request.per_batch = optional_file(flags.per_batch, "--per-batch");
  for (const std::string& word : flags.orders) request.orders.push_back(order_file(word));
  PipelineOptions& run = request.options.run;
  run.batch_size = resolve_batch_size(flags.batch_size);
  for (const std::string& name : flags.methods) request.options.methods.push_back(method_of(name));
  run.batches = resolve_batches(flags.batches, run.batch_size);
  resolve_graph(flags.graph, run.similarity);
  run.similarity.normalised = flags.inputs.normalised;
  resolve_loss(flags, request.options.loss);
  if (request.options.loss.form == Form::simclr && !request.negatives.empty())
    throw contradiction("--form simclr", "--negatives", "views are contrasted with each other only");
  if (request.options.loss.form == Form::simclr && run.batches.extra > 0)
    throw contradiction("--form simclr", "--extra", "views are contrasted with each other only");
  request.filter = resolve_filter(flags.filter, request.x == request.y);
  refuse_paper_filter(request.filter, run.similarity, false);
  const RunOptions options = resolve_run(flags.run);
  run.threads = options.threads;
  run.seed = run.similarity.seed = options.seed;
  run.isa = options.isa;
  run.memory_limit = options.memory_limit;
  request.json = flags.run.json;
  request.quiet = flags.run.quiet;
  return request;
}

}  // namespace gcbs::cli
