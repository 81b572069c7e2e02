// Declares the flags of `gcbs order` and turns them into options. All that is wrong whatever the data
// is found here, before a file is touched; what depends on the data (k > N) is the library's to say.
#include "order_request.h"

#include <CLI/CLI.hpp>
#include <string_view>

namespace gcbs::cli {
namespace {

void resolve_outputs(const OrderFlags& flags, OrderRequest& request) {
  request.output =
      needed(flags.output, "-o", "the order has to go somewhere", "add for example -o order.npy");
  if (flags.edges)
    request.edges = needed(flags.edges, "the name after --edges", "an empty name is no file",
                           "for example --edges edges.npy");
  if (flags.batches.extra)
    request.extra = needed(flags.extra_output, "--extra-output", "the extra columns have to go somewhere",
                           "add for example --extra-output extra.npy");
  else if (flags.extra_output)
    throw Error(ErrorKind::usage, "--extra is missing", "--extra-output says where extra columns go",
                "add for example --extra 16");
}

/// As many files as places for them.
void resolve_reorder(const OrderFlags& flags, OrderRequest& request) {
  if (flags.reorder.empty() && !flags.reordered.empty())
    throw Error(ErrorKind::usage, "--reorder is missing", "--reordered says where reordered records go",
                "add for example --reorder data.jsonl");
  if (flags.reordered.empty() && !flags.reorder.empty())
    throw Error(ErrorKind::usage, "--reordered is missing", "the reordered records have to go somewhere",
                "add for example --reordered ordered.jsonl");
  if (flags.reorder.size() != flags.reordered.size())
    throw Error(ErrorKind::usage,
                "--reorder is there " + std::to_string(flags.reorder.size()) + " times, --reordered " +
                    std::to_string(flags.reordered.size()),
                "the first --reordered belongs to the first --reorder, and so on", "give one for each");
  // Every temporary file is known to the signal handlers, and every mapped one: they know 64 of each.
  constexpr std::size_t kMostFiles = 32;
  if (flags.reorder.size() > kMostFiles)
    throw Error(ErrorKind::usage, "--reorder is there " + std::to_string(flags.reorder.size()) + " times",
                "a run reorders at most " + std::to_string(kMostFiles) + " files",
                "leave some out: the order can be applied to them later");
  for (const std::string& path : flags.reorder)
    request.reorder.push_back(needed(path, "the name after --reorder", "an empty name is no file",
                                     "for example --reorder data.jsonl"));
  for (const std::string& path : flags.reordered) {
    request.reordered.push_back(needed(path, "the name after --reordered", "an empty name is no file",
                                       "for example --reordered ordered.jsonl"));
    for (const std::string_view ending : {".gz", ".zst", ".xz", ".bz2"})
      if (path.ends_with(ending))
        throw Error(ErrorKind::usage, "--reordered " + path + " is no name for plain text",
                    "records are written as they are, not compressed",
                    "leave out " + std::string(ending) + ", and compress the file afterwards");
  }
}

/// The choices of the paper's listing, in one flag.
void resolve_paper(const OrderFlags& flags, PipelineOptions& options) {
  if (flags.graph.threshold && options.similarity.threshold != ThresholdMode::paper)
    throw contradiction("--paper", "--threshold " + *flags.graph.threshold,
                        "--paper finds the threshold as the paper's listing does");
  if (flags.method && options.ordering.method != Method::rcm)
    throw contradiction("--paper", "--method " + *flags.method, "the paper's listing orders by rcm");
  options.ordering.method = Method::rcm;
  options.similarity.threshold = ThresholdMode::paper;
  options.similarity.keep_diagonal = true;
  options.ordering.paper_degrees = true;
}

}  // namespace

void declare_flags(CLI::App& verb, OrderFlags& flags) {
  declare_inputs(verb, flags.inputs);
  declare_batch_size(verb, flags.batch_size);
  verb.add_option(
          "--method", flags.method,
          "pack (default): batches that maximise their loss; rcm, cm: reverse Cuthill-McKee, the paper's "
          "order, and its mirror; chain: the paper's Algorithm 1 as printed; random, natural: for "
          "comparison, "
          "these read no graph (no threshold, no edges)")
      ->type_name("METHOD")
      ->group("Batches");
  declare_pack(verb, flags.pack);
  declare_batches(verb, flags.batches);
  declare_temperature(verb, flags.temperature, "Batches");
  declare_pair_filter(verb, flags.filter, "no edges, and never share a batch",
                      ", or none; default 0 where no margin is given and a graph is read");
  declare_graph(verb, flags.graph);
  verb.add_flag("--normalised", flags.inputs.normalised,
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
  verb.add_option("--extra-output", flags.extra_output,
                  "the columns of --extra: int64, batches x E, rows of Y, -1 where there are fewer")
      ->type_name("FILE.npy")
      ->group("Output");
  const auto records = [&](const char* name, std::vector<std::string>& paths, const char* text) {
    verb.add_option(name, paths, text)
        ->type_name("FILE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group("Output");
  };
  records(
      "--reorder", flags.reorder,
      "text with one record a row of X, for trainers that read files in order: lines (.jsonl, .tsv, .txt, "
      "any other) or .csv, whose quoted fields may hold newlines; one record more in a .tsv or .csv is a "
      "header; may be repeated");
  records("--reordered", flags.reordered,
          "its records in the order, byte for byte, the header first; one for each --reorder");
  verb.add_flag("--no-verdict", flags.no_verdict, "do not estimate what the order is worth")->group("Output");
  declare_output(verb, flags.run);
  declare_run(verb, flags.run, "random, pack, estimate, --block, --random-share, --epoch");
}

OrderRequest resolve(const OrderFlags& flags) {
  OrderRequest request;
  PipelineOptions& options = request.options;
  const InputFiles files = resolve_inputs(flags.inputs, "gcbs order X.npy Y.npy -k 64 -o order.npy");
  request.x = files.x;
  request.y = files.y;
  resolve_outputs(flags, request);
  resolve_reorder(flags, request);
  options.batch_size = resolve_batch_size(flags.batch_size);
  options.batches = resolve_batches(flags.batches, options.batch_size);
  if (flags.method) options.ordering.method = method_of(*flags.method);
  PackRequest pack = resolve_pack(flags.pack, options.ordering.method == Method::pack);
  options.ordering.pack = std::move(pack.options);
  request.from = std::move(pack.from);
  resolve_graph(flags.graph, options.similarity);
  options.similarity.normalised = flags.inputs.normalised;
  const RunOptions run = resolve_run(flags.run);
  options.threads = run.threads;
  options.seed = options.similarity.seed = run.seed;
  options.isa = run.isa;
  options.memory_limit = run.memory_limit;
  if (flags.paper) resolve_paper(flags, options);
  const auto margin = default_relative_margin(options.ordering.method, options.similarity.threshold);
  request.filter = resolve_filter(flags.filter, request.x == request.y, margin);
  refuse_paper_filter(request.filter, options.similarity, flags.paper);
  if (flags.edges && !needs_graph(options.ordering.method))
    throw contradiction("--edges", "--method " + *flags.method,
                        "that method reads no graph, so there are no edges to write");
  options.keep_edges = flags.edges.has_value();
  if (!flags.no_verdict) options.verdict = VerdictOptions{};
  if (flags.temperature) {
    const double temperature = resolve_temperature(*flags.temperature);
    options.ordering.pack.temperature = options.batches.temperature = temperature;
    if (options.verdict) options.verdict->temperature = temperature;
  }
  request.paper = flags.paper;
  request.json = flags.run.json;
  request.quiet = flags.run.quiet;
  return request;
}

}  // namespace gcbs::cli
