// gcbs._core: the library's calls as Python sees them. Conversion only; the words are in python/gcbs/.
//
// Each call returns a dict: `json`, the object that the program prints; `lines` or `text`, what it tells
// people; and the arrays. Arrays given are borrowed for the time of the call.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>

#include "arrays.h"
#include "options.h"
#include "report/gap_report.h"
#include "report/mine_report.h"
#include "run.h"

namespace gcbs::python {
namespace {

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

nb::list pairs_of(const std::vector<ReportLine>& lines) {
  nb::list list;
  for (const ReportLine& line : lines) list.append(nb::make_tuple(line.label, line.text));
  return list;
}

nb::dict order(const AnyArray& x, const AnyArray& y, nb::dict words, nb::handle tick) {
  const Given given(words);
  OrderReport report;
  const MatrixView rows_x = view_of(x, "x"), rows_y = view_of(y, "y");
  report.options = pipeline_options(given);
  report.seconds = seconds_of([&] {
    run_interruptibly(tick, [&](Observer& observer) {
      report.result = order_pairs(rows_x, rows_y, report.options, &observer);
    });
  });
  report.x_path = "x";
  report.y_path = rows_y.data == rows_x.data ? "x" : "y";
  report.rows = rows_x.rows;
  report.dim = rows_x.cols;
  report.paper = given.flag("paper");
  report.filter = filter_names(report.options.filter);
  if (given.has("start")) report.from_path = "start";
  OrderResult& result = report.result;
  nb::dict found;
  found["json"] = json_of(report);
  found["lines"] = pairs_of(lines_of(report));
  found["order"] = copied_to_numpy<std::int64_t>(result.order.old_of_new, {result.order.old_of_new.size()});
  const std::size_t batches = result.extra.batches, columns = result.extra.columns;
  if (columns > 0) found["extra"] = to_numpy(std::move(result.extra.rows), {batches, columns});
  if (report.options.keep_edges) {
    Array<std::int32_t> pairs(2 * result.edges.count());
    std::size_t next = 0;
    for (std::size_t row = 0; row < result.edges.rows(); ++row)
      for (const Vertex column : result.edges.row(row)) {
        pairs[next++] = static_cast<std::int32_t>(row);
        pairs[next++] = static_cast<std::int32_t>(column);
      }
    found["edges"] = to_numpy(std::move(pairs), {next / 2, 2});
  }
  return found;
}

nb::dict gap(const AnyArray& x, const AnyArray& y, nb::object negatives, const std::string& command,
             nb::dict words, nb::handle tick) {
  const Given given(words);
  GapReport report;
  const MatrixView rows_x = view_of(x, "x"), rows_y = view_of(y, "y");
  std::optional<MatrixView> rows_z;
  if (!negatives.is_none()) rows_z = view_of(nb::cast<AnyArray>(negatives), "negatives");
  report.command = command;
  report.options = gap_options(given);
  report.seconds = seconds_of([&] {
    run_interruptibly(tick, [&](Observer& observer) {
      report.result = find_gap(rows_x, rows_y, rows_z ? &*rows_z : nullptr, report.options, &observer);
    });
  });
  report.x_path = "x";
  report.y_path = rows_y.data == rows_x.data ? "x" : "y";
  if (rows_z) report.negatives_path = "negatives";
  for (const NamedOrder& named : report.options.orders) report.order_paths.push_back(named.name);
  report.filter = filter_names(report.options.loss.filter);
  report.rows = rows_x.rows;
  report.dim = rows_x.cols;
  nb::dict found;
  found["json"] = json_of(report);
  found["text"] = text_of(report);
  nb::list per_batch;
  for (const OrderGap& judged : report.result.orders) {
    Array<double> values(2 * judged.batches.size());
    for (std::size_t b = 0; b < judged.batches.size(); ++b) {
      values[2 * b] = judged.batches[b].loss;
      values[2 * b + 1] = judged.batches[b].hardness;
    }
    per_batch.append(to_numpy(std::move(values), {judged.batches.size(), 2}));
  }
  found["per_batch"] = per_batch;
  return found;
}

nb::dict mine(const AnyArray& x, const AnyArray& corpus, nb::dict words, nb::handle tick) {
  const Given given(words);
  MineReport report;
  const MatrixView rows_x = view_of(x, "x"), rows_c = view_of(corpus, given.has("corpus") ? "corpus" : "y");
  report.options = mining_options(given);
  report.seconds = seconds_of([&] {
    run_interruptibly(tick, [&](Observer& observer) {
      report.result = mine_negatives(rows_x, rows_c, report.options, &observer);
    });
  });
  MiningResult& result = report.result;
  report.x_path = "x";
  report.corpus_path = rows_c.name;
  if (given.has("positives")) report.positives_path = "positives";
  report.group_paths = group_names(report.options.groups, report.options.duplicates);
  report.rows = rows_x.rows;
  report.corpus_rows = rows_c.rows;
  report.dim = rows_x.cols;
  report.found = result.negatives.size() -
                 static_cast<std::size_t>(std::count(result.negatives.begin(), result.negatives.end(), -1));
  nb::dict found;
  found["json"] = json_of(report);
  found["lines"] = pairs_of(lines_of(report));
  found["negatives"] = to_numpy(std::move(result.negatives), {result.rows, result.top});
  found["scores"] = to_numpy(std::move(result.scores), {result.rows, result.top});
  return found;
}

nb::object arrange(nb::handle order, nb::dict words, nb::handle tick) {
  const Given given(words);
  const std::vector<std::int64_t> rows = integers_of(order, "order");
  const PipelineOptions options = pipeline_options(given);
  ArrangedBatches made;
  run_interruptibly(tick, [&](Observer& observer) {
    made = arrange_batches(rows, options.batch_size, options.filter.groups, options.batches, options.seed,
                           &observer);
  });
  return copied_to_numpy<std::int64_t>(made.order.old_of_new, {made.order.old_of_new.size()});
}

std::optional<double> margin_of(nb::dict words) { return default_margin(Given(std::move(words))); }

nb::dict info() {
  MachineReport report;
  report.seconds = seconds_of([&] {
    report.compiled = compiled_isas();
    report.available = available_isas();
    report.chosen = choose_isa();
    report.cores = usable_cores();
  });
  nb::dict found;
  found["json"] = json_of(report);
  found["lines"] = pairs_of(lines_of(report));
  return found;
}

}  // namespace
}  // namespace gcbs::python

NB_MODULE(_core, module) {
  using namespace nanobind::literals;
  namespace py = gcbs::python;
  py::translate_errors();
  module.doc() = "The library behind gcbs. Use the functions of gcbs itself.";
  module.def("order", &py::order, "x"_a, "y"_a, "words"_a, "tick"_a.none());
  module.def("arrange", &py::arrange, "order"_a, "words"_a, "tick"_a.none());
  module.def("gap", &py::gap, "x"_a, "y"_a, "negatives"_a.none(), "command"_a, "words"_a, "tick"_a.none());
  module.def("mine", &py::mine, "x"_a, "corpus"_a, "words"_a, "tick"_a.none());
  module.def("default_margin", &py::margin_of, "words"_a);
  module.def("info", &py::info);
}
