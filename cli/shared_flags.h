// Flags that several verbs have: one name, one text, one meaning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gcbs/cpu.h"
#include "gcbs/error.h"
#include "gcbs/filter.h"
#include "gcbs/io.h"
#include "gcbs/loss.h"
#include "gcbs/pipeline.h"
#include "report/report.h"

namespace CLI {
class App;
}

namespace gcbs::cli {

/// A word as it was typed; none where the flag was not given.
using Word = std::optional<std::string>;

struct InputFlags {
  Word x, y;
  bool normalised = false;
};
struct InputFiles {
  std::string x, y;  ///< y equals x where none was given
};

struct GraphFlags {
  Word quantile, neighbours, threshold, shortcut;
};

struct FilterFlags {
  std::vector<std::string> groups;
  Word relative_margin, absolute_margin, max_score, guide_x, guide_y, skip_top;
  bool symmetric = false;
};
/// Ids and guides are read from files later.
struct FilterRequest {
  std::vector<std::string> group_files;
  std::string guide_x, guide_y;  ///< empty: none
  FilterOptions options;

  /// All files that are read.
  std::vector<std::string> files() const;
  /// What the report calls them.
  FilterPaths paths() const;
};
/// The guides live in mapped files.
struct FilterFiles {
  FilterOptions options;
  std::vector<FileMatrix> guides;
};

struct RunFlags {
  Word threads, seed, isa, memory_limit;
  bool json = false, quiet = false;
};
struct RunOptions {
  unsigned threads = 0;
  std::uint64_t seed = 0;
  std::optional<Isa> isa;
  std::uint64_t memory_limit = 0;
};

/// Each adds its flags to the verb; the flags must outlive the parse.
void declare_inputs(CLI::App& verb, InputFlags& flags);
void declare_batch_size(CLI::App& verb, Word& batch_size);
void declare_temperature(CLI::App& verb, Word& temperature, const char* group);
void declare_graph(CLI::App& verb, GraphFlags& flags);
void declare_filter(CLI::App& verb, FilterFlags& flags, const char* what, const char* groups = "",
                    const char* margin = "");
/// And those that judge pairs from both sides, or choose edges. `margin`: what is done where none is given.
void declare_pair_filter(CLI::App& verb, FilterFlags& flags, const char* what, const char* margin = "");
void declare_output(CLI::App& verb, RunFlags& flags);
void declare_run(CLI::App& verb, RunFlags& flags, const char* seed_of);

/// Each throws Error(usage) for what is wrong whatever the data.
InputFiles resolve_inputs(const InputFlags& flags, const char* example);
std::size_t resolve_batch_size(const Word& batch_size);
double resolve_temperature(const std::string& temperature);
void resolve_graph(const GraphFlags& flags, SimilarityOptions& options);
/// `margin`: the relative one where no margin is given.
FilterRequest resolve_filter(const FilterFlags& flags, bool one_side = true,
                             std::optional<double> margin = {});
void refuse_paper_filter(const FilterRequest& request, const SimilarityOptions& similarity, bool paper);
RunOptions resolve_run(const RunFlags& flags);
Method method_of(const std::string& name);

/// The word after a flag, or an error that says why it is needed and how to give it.
std::string needed(const Word& word, const std::string& what, const std::string& why, const std::string& fix);
Error contradiction(const std::string& first, const std::string& second, const std::string& reason);

/// Reads the files of a filter; of --groups alone. One id for each of `rows` rows.
FilterFiles read_filter(const FilterRequest& request, std::size_t rows);
std::vector<std::vector<std::int64_t>> read_groups(const std::vector<std::string>& files, std::size_t rows);

}  // namespace gcbs::cli
