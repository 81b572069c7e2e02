// `gcbs order`: two embedding files in, an order out.
//
// Ensures: outputs are complete or absent, whatever ends the run; stdout carries the JSON object or
// nothing; stderr carries a few lines for people unless --quiet. The outputs' folders are tried
// before the work starts, because nobody wants to learn of a typing error an hour later.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "files.h"
#include "gcbs/io.h"
#include "gcbs/pipeline.h"
#include "order_request.h"
#include "progress.h"
#include "report/report.h"
#include "signals.h"
#include "stopwatch.h"
#include "verbs.h"

namespace gcbs::cli {
namespace {

/// The files of --reorder; each must have a record for every row, and that is best known early.
std::vector<FileRecords> open_reorder(const OrderRequest& request, std::size_t rows, Progress& progress) {
  std::vector<FileRecords> files;
  for (const std::string& path : request.reorder) files.push_back(open_records(path, rows, &progress));
  return files;
}

void write_outputs(const OrderRequest& request, const OrderResult& result,
                   const std::vector<FileRecords>& records, Progress& progress) {
  WritePhase phase;
  if (!request.edges.empty())
    write_npy_edges(request.edges, result.edges.offsets, result.edges.columns, phase.files());
  if (!request.extra.empty())
    write_npy(request.extra, result.extra.rows, result.extra.columns, phase.files());
  const auto& rows = result.order.old_of_new;
  for (std::size_t i = 0; i < records.size(); ++i)
    reorder_records(records[i], rows, request.reordered[i], phase.files(), &progress);
  write_npy(request.output, std::vector<std::int64_t>(rows.begin(), rows.end()), 0, phase.files());
  phase.commit();
}

/// Reads, orders, writes; the report is complete but for the total.
OrderReport order_files(OrderRequest& request, Progress& progress) {
  progress.begin_stage("read");
  const Stopwatch reading;
  const FileMatrix x = open_matrix(request.x);
  const FileMatrix y = request.y == request.x ? x : open_matrix(request.y);
  const FilterFiles filter = read_filter(request.filter, x.view.rows);
  request.options.filter = filter.options;
  if (!request.from.empty()) request.options.ordering.pack.from = read_integers(request.from);
  const std::vector<FileRecords> records = open_reorder(request, x.view.rows, progress);
  const Stage read{"read", reading.seconds()};
  check_stop();

  progress.set_rows(x.view.rows);
  OrderReport report;
  report.x_path = request.x;
  report.y_path = request.y;
  report.output_path = request.output;
  report.edges_path = request.edges;
  report.extra_path = request.extra;
  report.reorder_paths = request.reorder;
  report.reordered_paths = request.reordered;
  report.rows = x.view.rows;
  report.dim = x.view.cols;
  report.options = request.options;
  report.paper = request.paper;
  report.result = order_pairs(x.view, y.view, request.options, &progress);
  report.filter = request.filter.paths();
  report.from_path = request.from;

  progress.begin_stage("write");
  const Stopwatch writing;
  write_outputs(request, report.result, records, progress);
  for (const FileRecords& file : records)
    report.result.peak_bytes += file.starts.capacity() * sizeof file.starts[0];
  report.result.stages.insert(report.result.stages.begin(), read);
  report.result.stages.push_back({"write", writing.seconds()});
  return report;
}

void run_order(OrderRequest&& request, Terminal& terminal) {
  const Stopwatch total;
  std::vector<std::string> inputs = request.filter.files();
  inputs.insert(inputs.end(), {request.x, request.y});
  if (!request.from.empty()) inputs.push_back(request.from);
  inputs.insert(inputs.end(), request.reorder.begin(), request.reorder.end());
  std::vector<OutputFlag> outputs{
      {"-o", request.output}, {"--edges", request.edges}, {"--extra-output", request.extra}};
  for (const std::string& path : request.reordered) outputs.push_back({"--reordered", path});
  check_outputs(outputs, inputs);
  Progress progress(terminal, request.quiet);
  OrderReport report = order_files(request, progress);
  progress.finish();
  report.seconds = total.seconds();
  if (!request.quiet) terminal.print(lines_of(report));
  if (request.json) print_result(json_of(report));
}

}  // namespace

Verb declare_order(CLI::App& program) {
  CLI::App* verb = program.add_subcommand(
      "order",
      "Order the pairs of two embedding files so that batches are full of hard negatives.\n"
      "Usage: gcbs order X [Y] -k K [-m M | -q Q] -o ORDER.npy [flags]\n\n"
      "Cut into consecutive blocks of K rows, the order gives the batches. Pairs that\n"
      "are similar, x_i to y_j, end up in the same block where that is possible.");
  verb->footer(
      "Example:\n  gcbs order X.npy Y.npy -k 64 -m 128 -o order.npy\n\n"
      "Exit codes: 0 done, 1 internal, 2 usage, 3 input, 4 unsupported here,\n"
      "5 out of memory or disk, 130 and 143 interrupted.");
  const auto flags = std::make_shared<OrderFlags>();
  declare_flags(*verb, *flags);
  return {verb, [flags](Terminal& terminal) { run_order(resolve(*flags), terminal); }};
}

}  // namespace gcbs::cli
