// Contract C10 by the letter, from tables of all similarities.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gcbs/filter.h"
#include "gcbs/graph.h"
#include "support/matrices.h"

namespace gcbs::testing {

/// Who is admissible, asked pair by pair.
class FilterReference {
 public:
  /// The guide's matrices where options has a guide.
  FilterReference(const FilterOptions& options, const Matrix& x, const Matrix& y,
                  const Matrix* guide_x = nullptr, const Matrix* guide_y = nullptr);

  bool admits(std::size_t i, std::size_t j) const;

  struct Expected {
    double threshold;
    std::vector<std::pair<Vertex, Vertex>> edges;
  };
  /// The `wanted` largest admissible values of X and Y, ties at the next one left out.
  Expected edges(std::uint64_t wanted) const;

 private:
  std::size_t n_;
  FilterOptions options_;
  std::vector<double> all_;                   ///< of X and Y
  std::vector<double> xy_, xx_, yy_;          ///< of those who judge
  std::vector<std::vector<bool>> are_mates_;  ///< pair by pair
};

}  // namespace gcbs::testing
