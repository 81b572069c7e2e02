// A pair is looked at in the cheap float64 way first (Definition::near); what that leaves open is summed as
// the definition says.
#include "similarity/pair_judge.h"

#include <algorithm>
#include <string>

#include "gcbs/error.h"
#include "matrix/equal_rows.h"

namespace gcbs {
namespace {

bool same_matrix(const Rows& a, const Rows& b) {
  const MatrixView &x = a.matrix(), &y = b.matrix();
  return x.data == y.data && x.row_bytes == y.row_bytes && x.type == y.type && x.rows == y.rows &&
         x.cols == y.cols;
}

void check_guide(const FilterOptions& options, std::size_t rows) {
  check_filter(options);
  if (!options.is_guided()) return;
  const MatrixView &x = *options.guide_x, &y = *options.guide_y;
  const auto shape = [](const MatrixView& m) {
    return m.name + " is " + std::to_string(m.rows) + " x " + std::to_string(m.cols);
  };
  if (x.rows != rows || y.rows != rows || x.cols != y.cols || x.cols == 0)
    throw Error(ErrorKind::input, "the guide does not fit the data",
                shape(x) + ", " + shape(y) + ", and there are " + std::to_string(rows) + " pairs",
                "give the guide's embeddings of the same pairs, both sides of one width");
}

GroupIds ids_of_equal_rows(const Rows& rows, const RunContext& run) {
  const std::vector<std::uint32_t> first = first_equal_rows(rows.matrix(), run);
  return GroupIds(first.begin(), first.end());
}

Groups groups_of(const FilterOptions& options, const Rows& x, const Rows& y, const RunContext& run) {
  if (!options.duplicates) return Groups(options.groups, x.count());
  std::vector<GroupIds> lists = options.groups;
  lists.push_back(ids_of_equal_rows(x, run));
  if (!same_matrix(x, y)) lists.push_back(ids_of_equal_rows(y, run));
  return Groups(lists, x.count());
}

}  // namespace

Array<double> positives_of(const Rows& x, const Rows& y, const RunContext& run) {
  Array<double> positives(x.count(), run.meter);
  parallel_for(run, x.count(), 1024, [&](std::size_t begin, std::size_t end, unsigned) {
    Definition definition(x, y);
    for (std::size_t i = begin; i < end; ++i) {
      const FinePair pair{static_cast<Vertex>(i), static_cast<Vertex>(i)};
      definition.evaluate({&pair, 1}, {&positives[i], 1});
    }
  });
  return positives;
}

PairJudge::PairJudge(const FilterOptions& options, const Rows& x, const Rows& y, const RunContext& run) {
  check_guide(options, x.count());
  if (options.has_margins()) {
    if (options.is_guided()) {
      guide_x_.emplace(*options.guide_x, false, run);
      guide_y_.emplace(*options.guide_y, false, run);
    }
    const Rows &left = guide_x_ ? *guide_x_ : x, &right = guide_y_ ? *guide_y_ : y;
    admissible_ = make_admissible(options, positives_of(left, right, run), run);
    // One matrix: a product does not depend on the order of its factors, so one kind is all kinds.
    const bool one_side = same_matrix(left, right);
    judged_.push_back({&left, &right, !one_side});
    if (options.symmetric && !one_side) {
      judged_.push_back({&left, &left, false});
      judged_.push_back({&right, &right, false});
    }
    for (const Judged& kind : judged_) near_.emplace_back(*kind.left, *kind.right);
  }
  admissible_.groups = groups_of(options, x, y, run);
}

bool PairJudge::is_suspect(Vertex i, Vertex j) const {
  if (!has_margins()) return false;
  const double limit = admissible_.limit_of(i, j);
  for (std::size_t kind = 0; kind < judged_.size(); ++kind)
    if (exceeds(kind, i, j, limit) || (judged_[kind].both_ways && exceeds(kind, j, i, limit))) return true;
  return false;
}

bool PairJudge::exceeds(std::size_t kind, Vertex i, Vertex j, double limit) const {
  const FinePair pair{i, j};
  const double near = near_[kind].near(pair), bound = near_[kind].near_bound();
  if (near - bound > limit) return true;
  if (near + bound <= limit) return false;
  double exact = 0;
  Definition(*judged_[kind].left, *judged_[kind].right).evaluate({&pair, 1}, {&exact, 1});
  return exact > limit;
}

}  // namespace gcbs
