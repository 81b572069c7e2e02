// Declares the flags of `gcbs order` and turns them into options. All that is wrong whatever the data
// is found here, before a file is touched; what depends on the data (k > N) is the library's to say.
#include "order_request.h"

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

constexpr std::array kMethods{Method::rcm, Method::cm, Method::chain, Method::random, Method::natural};
constexpr std::array kModes{ThresholdMode::exact, ThresholdMode::estimate, ThresholdMode::paper};
constexpr std::array kShortcuts{Shortcut::automatic, Shortcut::on, Shortcut::off};
constexpr std::array kIsas{Isa::amx_int8, Isa::avx512_vnni, Isa::avx2, Isa::scalar};

template <class Values>
auto names_of(const Values& values) {
  std::array<const char*, std::tuple_size_v<Values>> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = name_of(values[i]);
  return names;
}

Error contradiction(const std::string& first, const std::string& second, const std::string& reason) {
  return Error(ErrorKind::usage, first + " and " + second + " contradict each other", reason,
               "leave one of them out");
}

std::string needed(const OrderFlags::Word& word, const std::string& what, const std::string& why,
                   const std::string& fix) {
  if (!word || word->empty()) throw Error(ErrorKind::usage, what + " is missing", why, fix);
  return *word;
}

void resolve_files(const OrderFlags& flags, OrderRequest& request) {
  request.x = needed(flags.x, "the embedding file X", "there is nothing to order",
                     "name it: gcbs order X.npy Y.npy -k 64 -o order.npy");
  request.y =
      flags.y ? needed(flags.y, "the name of Y", "an empty name is no file", "name a file, or leave Y out")
              : request.x;
  request.output =
      needed(flags.output, "-o", "the order has to go somewhere", "add for example -o order.npy");
  if (flags.edges)
    request.edges = needed(flags.edges, "the name after --edges", "an empty name is no file",
                           "for example --edges edges.npy");
}

void resolve_similarity(const OrderFlags& flags, SimilarityOptions& options) {
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
  options.normalised = flags.normalised;
}

void resolve_run(const OrderFlags& flags, PipelineOptions& options) {
  if (flags.threads)
    options.threads = static_cast<unsigned>(whole_number(kThreads, *flags.threads, 0, kMostThreads));
  if (flags.seed) options.seed = whole_number(kSeed, *flags.seed, 0, kNoLimit);
  if (flags.isa) options.isa = choice(kIsa, *flags.isa, names_of(kIsas), isa_from);
  if (flags.memory_limit) options.memory_limit = byte_count(kMemoryLimit, *flags.memory_limit);
  options.similarity.seed = options.seed;
}

/// The choices of the paper's listing, in one flag.
void resolve_paper(const OrderFlags& flags, PipelineOptions& options) {
  if (flags.threshold && options.similarity.threshold != ThresholdMode::paper)
    throw contradiction("--paper", "--threshold " + *flags.threshold,
                        "--paper finds the threshold as the paper's listing does");
  if (flags.method && options.ordering.method != Method::rcm)
    throw contradiction("--paper", "--method " + *flags.method, "the paper's listing orders by rcm");
  options.similarity.threshold = ThresholdMode::paper;
  options.similarity.keep_diagonal = true;
  options.ordering.paper_degrees = true;
}

}  // namespace

void declare_flags(CLI::App& verb, OrderFlags& flags) {
  verb.add_option(
      "X", flags.x,
      "embeddings, N rows: FILE.npy or FILE.safetensors:TENSOR, of float32, float16, bfloat16 or float64");
  verb.add_option("Y", flags.y, "as many rows; row i of X and row i of Y are a pair. Left out: Y = X");

  verb.add_option("-k,--batch-size", flags.batch_size, "rows in a batch, 2 to N (needed)")
      ->type_name("K")
      ->group("Batches");
  verb.add_option(
          "--method", flags.method,
          "rcm (default), cm: reverse Cuthill-McKee and its mirror; chain: the paper's Algorithm 1 as "
          "printed; random, natural: for comparison, these read no graph (no threshold, no edges)")
      ->type_name("METHOD")
      ->group("Batches");

  const auto graph = [&](const char* name, auto& word, const char* text) {
    return verb.add_option(name, word, text)->group("Graph");
  };
  graph("-m,--neighbours", flags.neighbours, "edges a row to keep, on average; default K")->type_name("M");
  graph("-q,--quantile", flags.quantile, "or: the share of all N x N similarities to drop, 0 <= Q < 1")
      ->type_name("Q");
  graph("--threshold", flags.threshold,
        "exact (default): the quantile of all similarities; estimate: of a sample; paper: the median over "
        "3-row "
        "chunks")
      ->type_name("MODE");
  graph("--shortcut", flags.shortcut,
        "skip what cannot matter: auto (default), on, off; the answer is the same")
      ->type_name("WHEN");
  verb.add_flag("--normalised", flags.normalised,
                "rows are unit vectors already (checked): use them as they are")
      ->group("Graph");
  verb.add_flag("--paper", flags.paper,
                "all choices of the paper's listing: --threshold paper, the diagonal kept, --method rcm")
      ->group("Graph");

  verb.add_option("-o,--output", flags.output, "the order: int64, N, new position -> old row (needed)")
      ->type_name("FILE.npy")
      ->group("Output");
  verb.add_option("--edges", flags.edges, "also the graph: int32, E x 2, sorted by (row, column)")
      ->type_name("FILE.npy")
      ->group("Output");
  verb.add_flag("--json", flags.json, "print one JSON object about the run on stdout")->group("Output");
  verb.add_flag("--quiet", flags.quiet, "nothing on stderr but errors")->group("Output");

  verb.add_option("--threads", flags.threads, "default 0: all cores this process may use")
      ->type_name("N")
      ->group("Run");
  verb.add_option("--seed", flags.seed, "of random and estimate; default 0")->type_name("S")->group("Run");
  verb.add_option("--isa", flags.isa, "force an instruction set that gcbs info lists as available")
      ->type_name("NAME")
      ->group("Run");
  verb.add_option("--memory-limit", flags.memory_limit,
                  "refuse a run that needs more: 8G, 512M, bytes; default 80 % of what is available")
      ->type_name("BYTES")
      ->group("Run");
}

OrderRequest resolve(const OrderFlags& flags) {
  OrderRequest request;
  PipelineOptions& options = request.options;
  resolve_files(flags, request);
  const std::string size =
      needed(flags.batch_size, "-k", "the batch size decides which pairs can meet", "add for example -k 64");
  options.batch_size = whole_number(kBatchSize, size, 2, kNoLimit);
  if (flags.method) options.ordering.method = choice(kMethod, *flags.method, names_of(kMethods), method_from);
  resolve_similarity(flags, options.similarity);
  resolve_run(flags, options);
  if (flags.paper) resolve_paper(flags, options);
  if (flags.edges && !needs_graph(options.ordering.method))
    throw contradiction("--edges", "--method " + *flags.method,
                        "that method reads no graph, so there are no edges to write");
  options.keep_edges = flags.edges.has_value();
  request.paper = flags.paper;
  request.json = flags.json;
  request.quiet = flags.quiet;
  return request;
}

}  // namespace gcbs::cli
