#include "support/filters.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace gcbs::testing {

FilterReference::FilterReference(const FilterOptions& options, const Matrix& x, const Matrix& y,
                                 const Matrix* guide_x, const Matrix* guide_y)
    : n_(x.rows),
      options_(options),
      all_(all_similarities(x, y)),
      xy_(guide_x != nullptr ? all_similarities(*guide_x, *guide_y) : all_),
      xx_(guide_x != nullptr ? all_similarities(*guide_x, *guide_x) : all_similarities(x, x)),
      yy_(guide_y != nullptr ? all_similarities(*guide_y, *guide_y) : all_similarities(y, y)),
      are_mates_(n_, std::vector<bool>(n_, false)) {
  const auto equal = [](const Matrix& m, std::size_t i, std::size_t j) {
    return std::equal(&m.values[i * m.cols], &m.values[i * m.cols] + m.cols, &m.values[j * m.cols]);
  };
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t j = 0; j < n_; ++j) {
      bool mates = options.duplicates && (equal(x, i, j) || equal(y, i, j));
      for (const auto& ids : options.groups) mates = mates || ids[i] == ids[j];
      are_mates_[i][j] = mates;
    }
}

bool FilterReference::admits(std::size_t i, std::size_t j) const {
  if (i == j || are_mates_[i][j]) return false;
  double largest = std::max(xy_[i * n_ + j], xy_[j * n_ + i]);
  if (options_.symmetric) largest = std::max({largest, xx_[i * n_ + j], yy_[i * n_ + j]});
  const double p = std::min(xy_[i * n_ + i], xy_[j * n_ + j]);
  if (options_.relative_margin && largest > p - *options_.relative_margin * std::abs(p)) return false;
  if (options_.absolute_margin && largest > p - *options_.absolute_margin) return false;
  return !options_.max_score || largest <= *options_.max_score;
}

FilterReference::Expected FilterReference::edges(std::uint64_t wanted) const {
  struct Entry {
    double s;
    Vertex row, col;
  };
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < n_; ++i) {
    std::vector<Entry> row;
    for (std::size_t j = 0; j < n_; ++j)
      if (admits(i, j)) row.push_back({all_[i * n_ + j], static_cast<Vertex>(i), static_cast<Vertex>(j)});
    std::stable_sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) { return a.s > b.s; });
    for (std::size_t k = options_.skip_top; k < row.size(); ++k) entries.push_back(row[k]);
  }
  std::vector<double> values;
  for (const Entry& entry : entries) values.push_back(entry.s);
  std::sort(values.begin(), values.end(), std::greater<>());
  Expected expected{-std::numeric_limits<double>::infinity(), {}};
  if (wanted < values.size()) expected.threshold = values[wanted];
  for (const Entry& entry : entries)
    if (entry.s > expected.threshold) expected.edges.emplace_back(entry.row, entry.col);
  std::sort(expected.edges.begin(), expected.edges.end());
  return expected;
}

}  // namespace gcbs::testing
