#include "options.h"

#include "arrays.h"
#include "gcbs/error.h"

namespace gcbs::python {
namespace {

[[noreturn]] void refuse(const char* name, nb::handle value, const std::string& wanted) {
  throw Error(ErrorKind::usage, std::string(name) + " cannot be " + nb::repr(value).c_str(),
              "it takes " + wanted, "see help(gcbs." + std::string("order)"));
}

/// The value that a name stands for; `all` names them.
template <class From, class Value>
void choose(const Given& given, const char* name, From from, const char* all, Value& value) {
  const auto word = given.text(name);
  if (!word) return;
  const auto found = from(*word);
  if (!found) refuse(name, given.get(name), std::string("one of ") + all);
  value = *found;
}

template <class Value, class Read>
void set(Value& value, const std::optional<Read>& given) {
  if (given) value = static_cast<Value>(*given);
}

template <class Options>
void read_run(const Given& given, Options& options) {
  set(options.threads, given.whole("threads"));
  set(options.memory_limit, given.whole("memory_limit"));
  if (const auto isa = given.text("isa")) {
    options.isa = isa_from(*isa);
    if (!options.isa) refuse("isa", given.get("isa"), "one of amx_int8, avx512_vnni, avx2, scalar");
  }
}

template <class Options>
void read_margins(const Given& given, Options& options) {
  options.relative_margin = given.real("relative_margin");
  options.absolute_margin = given.real("absolute_margin");
  options.max_score = given.real("max_score");
}

void read_method(const Given& given, Method& method) {
  if (given.flag("paper")) method = Method::rcm;
  choose(given, "method", method_from, "rcm, cm, chain, pack, random, natural", method);
}

void read_threshold(const Given& given, ThresholdMode& threshold) {
  choose(given, "threshold", threshold_mode_from, "exact, estimate, paper", threshold);
  if (given.flag("paper")) threshold = ThresholdMode::paper;
}

void read_similarity(const Given& given, SimilarityOptions& options) {
  options.quantile = given.real("quantile");
  options.neighbours = given.real("neighbours");
  if (options.quantile && options.neighbours)
    throw Error(ErrorKind::usage, "quantile and neighbours contradict each other",
                "both say how many edges to keep (q = 1 - m/N)", "leave one of them out");
  read_threshold(given, options.threshold);
  choose(given, "shortcut", shortcut_from, "auto, on, off", options.shortcut);
  options.normalised = given.flag("normalised");
}

std::vector<std::vector<std::int64_t>> read_groups(const Given& given, bool& duplicates) {
  std::vector<std::vector<std::int64_t>> lists;
  if (!given.has("groups")) return lists;
  for (const nb::handle entry : given.get("groups")) {
    if (!nb::isinstance<nb::str>(entry))
      lists.push_back(integers_of(entry, "groups"));
    else if (nb::cast<nb::str>(entry).equal(nb::str("duplicates")))
      duplicates = true;
    else
      refuse("groups", entry, "ids, or 'duplicates'");
  }
  return lists;
}

FilterOptions filter_options(const Given& given) {
  FilterOptions options;
  options.groups = read_groups(given, options.duplicates);
  read_margins(given, options);
  options.symmetric = given.flag("symmetric");
  set(options.skip_top, given.whole("skip_top"));
  for (const char* name : {"guide_x", "guide_y"})
    if (given.has(name))
      (name[6] == 'x' ? options.guide_x : options.guide_y) =
          view_of(nb::cast<AnyArray>(given.get(name)), name);
  if ((options.symmetric || options.is_guided()) && !options.has_margins())
    throw Error(ErrorKind::usage,
                std::string(options.symmetric ? "symmetric" : "guide_x") + " needs a margin",
                "it says by which similarities suspects are judged, and without a margin there are none",
                "add for example relative_margin=0.05");
  return options;
}

}  // namespace

nb::object Given::get(const char* name) const {
  return words_.contains(name) ? nb::object(words_[name]) : nb::object(nb::none());
}

bool Given::flag(const char* name) const {
  const int truth = PyObject_IsTrue(get(name).ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

std::optional<std::uint64_t> Given::whole(const char* name) const {
  const nb::object value = get(name);
  if (value.is_none()) return {};
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (number.is_valid()) {
    const unsigned long long whole = PyLong_AsUnsignedLongLong(number.ptr());
    if (!PyErr_Occurred()) return whole;
  }
  PyErr_Clear();
  refuse(name, value, "a whole number, at least 0");
}

std::optional<double> Given::real(const char* name) const {
  const nb::object value = get(name);
  if (value.is_none()) return {};
  const double number = PyFloat_AsDouble(value.ptr());
  if (!PyErr_Occurred() && number - number == 0) return number;
  PyErr_Clear();
  refuse(name, value, "a number");
}

std::optional<std::string> Given::text(const char* name) const {
  const nb::object value = get(name);
  if (value.is_none()) return {};
  if (!nb::isinstance<nb::str>(value)) refuse(name, value, "a word");
  return std::string(nb::cast<nb::str>(value).c_str());
}

PipelineOptions pipeline_options(const Given& given) {
  PipelineOptions options;
  set(options.batch_size, given.whole("batch_size"));
  read_similarity(given, options.similarity);
  options.filter = filter_options(given);
  OrderingOptions& ordering = options.ordering;
  read_method(given, ordering.method);
  choose(given, "objective", objective_from, "edges, similarity, loss", ordering.pack.objective);
  choose(given, "effort", effort_from, "fast, default, best", ordering.pack.effort);
  if (given.has("start")) ordering.pack.from = integers_of(given.get("start"), "start");
  options.similarity.keep_diagonal = ordering.paper_degrees = given.flag("paper");
  set(options.batches.block, given.whole("block"));
  set(options.batches.random_share, given.real("random_share"));
  options.batches.epoch = given.whole("epoch");
  set(options.batches.extra, given.whole("extra"));
  set(options.seed, given.whole("seed"));
  options.similarity.seed = options.seed;
  read_run(given, options);
  options.keep_edges = given.flag("edges");
  if (given.flag("verdict")) options.verdict = VerdictOptions{};
  if (const auto temperature = given.real("temperature")) {
    ordering.pack.temperature = options.batches.temperature = *temperature;
    if (options.verdict) options.verdict->temperature = *temperature;
  }
  return options;
}

std::optional<double> default_margin(const Given& given) {
  PipelineOptions options;
  read_method(given, options.ordering.method);
  read_threshold(given, options.similarity.threshold);
  return default_relative_margin(options.ordering.method, options.similarity.threshold);
}

GapOptions gap_options(const Given& given) {
  GapOptions options;
  options.run = pipeline_options(given);
  options.loss.filter = std::move(options.run.filter);
  options.run.filter = {};
  set(options.loss.temperature, given.real("temperature"));
  choose(given, "direction", direction_from, "x, y, both", options.loss.direction);
  choose(given, "form", form_from, "clip, simclr", options.loss.form);
  set(options.loss.random_trials, given.whole("random_trials"));
  for (const nb::handle entry : given.get("methods")) {
    const auto method = method_from(nb::str(entry).c_str());
    if (!method) refuse("methods", entry, "some of rcm, cm, chain, pack, random, natural");
    options.methods.push_back(*method);
  }
  for (const auto [name, order] : nb::cast<nb::dict>(given.get("orders")))
    options.orders.push_back({nb::str(name).c_str(), integers_of(order, nb::str(name).c_str())});
  return options;
}

MiningOptions mining_options(const Given& given) {
  MiningOptions options;
  set(options.top, given.whole("top"));
  set(options.skip_top, given.whole("skip_top"));
  read_margins(given, options);
  options.min_score = given.real("min_score");
  if (given.has("positives")) options.positives = integers_of(given.get("positives"), "positives");
  options.groups = read_groups(given, options.duplicates);
  options.normalised = given.flag("normalised");
  read_run(given, options);
  return options;
}

std::vector<std::string> group_names(const std::vector<std::vector<std::int64_t>>& groups, bool duplicates) {
  std::vector<std::string> names;
  for (std::size_t list = 0; list < groups.size(); ++list)
    names.push_back("groups[" + std::to_string(list) + "]");
  if (duplicates) names.emplace_back("duplicates");
  return names;
}

FilterPaths filter_names(const FilterOptions& filter) {
  return {group_names(filter.groups, filter.duplicates), filter.guide_x ? "guide_x" : "",
          filter.guide_y ? "guide_y" : ""};
}

}  // namespace gcbs::python
