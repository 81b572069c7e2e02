#include "shared_flags.h"

#include <CLI/CLI.hpp>
#include <array>
#include <limits>

#include "values.h"

namespace gcbs::cli {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostThreads = 4096;

constexpr Flag kBatchSize{"-k", "-k 64"}, kQuantile{"-q", "-q 0.999"}, kNeighbours{"-m", "-m 64"},
    kMethod{"--method", "--method rcm"}, kThreshold{"--threshold", "--threshold exact"},
    kShortcut{"--shortcut", "--shortcut auto"}, kThreads{"--threads", "--threads 4"},
    kSeed{"--seed", "--seed 7"}, kIsa{"--isa", "--isa scalar"},
    kMemoryLimit{"--memory-limit", "--memory-limit 8G"};

constexpr std::array kMethods{Method::rcm,  Method::cm,     Method::chain,
                              Method::pack, Method::random, Method::natural};
constexpr std::array kModes{ThresholdMode::exact, ThresholdMode::estimate, ThresholdMode::paper};
constexpr std::array kShortcuts{Shortcut::automatic, Shortcut::on, Shortcut::off};
constexpr std::array kIsas{Isa::amx_int8, Isa::avx512_vnni, Isa::avx2, Isa::scalar};

template <class Values>
auto names_of(const Values& values) {
  std::array<const char*, std::tuple_size_v<Values>> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = name_of(values[i]);
  return names;
}

}  // namespace

void declare_inputs(CLI::App& verb, InputFlags& flags) {
  verb.add_option(
      "X", flags.x,
      "embeddings, N rows: FILE.npy or FILE.safetensors:TENSOR, of float32, float16, bfloat16 or float64");
  verb.add_option("Y", flags.y, "as many rows; row i of X and row i of Y are a pair. Left out: Y = X");
}

void declare_batch_size(CLI::App& verb, Word& batch_size) {
  verb.add_option("-k,--batch-size", batch_size, "rows in a batch, 2 to N (needed)")
      ->type_name("K")
      ->group("Batches");
}

void declare_temperature(CLI::App& verb, Word& temperature, const char* group) {
  verb.add_option("--temperature", temperature, "what similarities are divided by in the loss; default 0.05")
      ->type_name("TAU")
      ->group(group);
}

void declare_graph(CLI::App& verb, GraphFlags& flags) {
  const auto graph = [&](const char* name, auto& word, const char* text) {
    return verb.add_option(name, word, text)->group("Graph");
  };
  graph("-m,--neighbours", flags.neighbours, "edges a row to keep, on average; default K")->type_name("M");
  graph("-q,--quantile", flags.quantile, "or: the share of all N x N similarities to drop, 0 <= Q < 1")
      ->type_name("Q");
  graph("--threshold", flags.threshold,
        "exact (default): the quantile of all similarities; estimate: of a sample; paper: the median over "
        "3-row chunks")
      ->type_name("MODE");
  graph("--shortcut", flags.shortcut,
        "skip what cannot matter: auto (default), on, off; the answer is the same")
      ->type_name("WHEN");
}

void declare_output(CLI::App& verb, RunFlags& flags) {
  verb.add_flag("--json", flags.json, "print one JSON object about the run on stdout")->group("Output");
  verb.add_flag("--quiet", flags.quiet, "nothing on stderr but errors")->group("Output");
}

void declare_run(CLI::App& verb, RunFlags& flags, const char* seed_of) {
  const auto run = [&](const char* name, auto& word, const std::string& text, const char* type) {
    verb.add_option(name, word, text)->type_name(type)->group("Run");
  };
  run("--threads", flags.threads, "default 0: all cores this process may use", "N");
  if (seed_of != nullptr) run("--seed", flags.seed, "of " + std::string(seed_of) + "; default 0", "S");
  run("--isa", flags.isa, "force an instruction set that gcbs info lists as available", "NAME");
  run("--memory-limit", flags.memory_limit,
      "refuse a run that needs more: 8G, 512M, bytes; default 80 % of what is available", "BYTES");
}

std::string needed(const Word& word, const std::string& what, const std::string& why,
                   const std::string& fix) {
  if (!word || word->empty()) throw Error(ErrorKind::usage, what + " is missing", why, fix);
  return *word;
}

Error contradiction(const std::string& first, const std::string& second, const std::string& reason) {
  return Error(ErrorKind::usage, first + " and " + second + " contradict each other", reason,
               "leave one of them out");
}

InputFiles resolve_inputs(const InputFlags& flags, const char* example) {
  InputFiles files;
  files.x = needed(flags.x, "the embedding file X", "there is nothing to work on",
                   "name it: " + std::string(example));
  files.y = flags.y
                ? needed(flags.y, "the name of Y", "an empty name is no file", "name a file, or leave Y out")
                : files.x;
  return files;
}

double resolve_temperature(const std::string& temperature) {
  constexpr Flag kTemperature{"--temperature", "--temperature 0.05"};
  const double value = real_number(kTemperature, temperature);
  if (!(value > 0)) throw wrong_value(kTemperature, temperature, "a number above 0");
  return value;
}

std::size_t resolve_batch_size(const Word& batch_size) {
  const std::string size =
      needed(batch_size, "-k", "the batch size decides which pairs can meet", "add for example -k 64");
  return whole_number(kBatchSize, size, 2, kNoLimit);
}

void resolve_graph(const GraphFlags& flags, SimilarityOptions& options) {
  if (flags.quantile && flags.neighbours)
    throw contradiction("-q", "-m", "both say how many edges to keep (q = 1 - m/N)");
  if (flags.quantile) {
    options.quantile = real_number(kQuantile, *flags.quantile);
    if (!(*options.quantile >= 0 && *options.quantile < 1))
      throw wrong_value(kQuantile, *flags.quantile, "a number from 0 up to, not including, 1");
  }
  if (flags.neighbours) {
    options.neighbours = real_number(kNeighbours, *flags.neighbours);
    if (!(*options.neighbours > 0))
      throw wrong_value(kNeighbours, *flags.neighbours, "a number above 0, at most N");
  }
  if (flags.threshold)
    options.threshold = choice(kThreshold, *flags.threshold, names_of(kModes), threshold_mode_from);
  if (flags.shortcut)
    options.shortcut = choice(kShortcut, *flags.shortcut, names_of(kShortcuts), shortcut_from);
}

RunOptions resolve_run(const RunFlags& flags) {
  RunOptions options;
  if (flags.threads)
    options.threads = static_cast<unsigned>(whole_number(kThreads, *flags.threads, 0, kMostThreads));
  if (flags.seed) options.seed = whole_number(kSeed, *flags.seed, 0, kNoLimit);
  if (flags.isa) options.isa = choice(kIsa, *flags.isa, names_of(kIsas), isa_from);
  if (flags.memory_limit) options.memory_limit = byte_count(kMemoryLimit, *flags.memory_limit);
  return options;
}

Method method_of(const std::string& name) { return choice(kMethod, name, names_of(kMethods), method_from); }

}  // namespace gcbs::cli
