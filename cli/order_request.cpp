// Declares the flags of `gcbs order` and turns them into options. All that is wrong whatever the data
// is found here, before a file is touched; what depends on the data (k > N) is the library's to say.
#include "order_request.h"

#include <CLI/CLI.hpp>

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

/// The choices of the paper's listing, in one flag.
void resolve_paper(const OrderFlags& flags, PipelineOptions& options) {
  if (flags.graph.threshold && options.similarity.threshold != ThresholdMode::paper)
    throw contradiction("--paper", "--threshold " + *flags.graph.threshold,
                        "--paper finds the threshold as the paper's listing does");
  if (flags.method && options.ordering.method != Method::rcm)
    throw contradiction("--paper", "--method " + *flags.method, "the paper's listing orders by rcm");
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
          "rcm (default), cm: reverse Cuthill-McKee and its mirror; pack: blocks that maximise the loss in "
          "batches; chain: the paper's Algorithm 1 as printed; random, natural: for comparison, these read "
          "no graph (no threshold, no edges)")
      ->type_name("METHOD")
      ->group("Batches");
  declare_pack(verb, flags.pack);
  declare_batches(verb, flags.batches);
  declare_temperature(verb, flags.temperature, "Batches");
  declare_pair_filter(verb, flags.filter, "no edges, and never share a batch");
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
  request.filter = resolve_filter(flags.filter, request.x == request.y);
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
