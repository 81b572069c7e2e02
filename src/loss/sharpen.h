// Anchors whose error would show in a mean: their largest terms are taken from the definition.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loss/part.h"
#include "similarity/definition.h"
#include "similarity/pair_judge.h"

namespace gcbs {

/// How many anchors may be looked at again where each meets `others` rows.
std::size_t most_in_doubt(std::size_t anchors, std::size_t others) noexcept;

/// Anchors whose negatives have at least this share of the softmax are in doubt: with `moved`, what an
/// exponent may be wrong by, the errors of the others stay small against the tolerance of `loss`, the mean
/// over all anchors. At most `most` anchors are; infinity: none. Always positive.
double find_doubt_limit(std::span<const double> shares, double moved, double loss, std::size_t most);

/// An anchor by its pair, the log of its sum of exponentials, and its largest similarity.
struct DoubtfulAnchor {
  Vertex pair;
  double log_sum, most;
};

/// A worker's buffers for the anchors of one side.
class Sharpener {
 public:
  /// Where the terms of the anchors are: they are the rows of a part, or its columns.
  struct Source {
    const LossPart* part;
    bool by_column;
  };

  /// Borrows the parts, none of which is exact, and the judge.
  Sharpener(std::vector<Source> sources, const PairJudge& judge, double temperature, const Kernel& kernel,
            const RunContext& run);

  /// Puts right the sums of anchors that meet the rows `others`, their own pairs among them or not.
  void sharpen(std::span<DoubtfulAnchor> anchors, std::span<const Vertex> others);

 private:
  /// What the large terms of an anchor come to, as shares of its old sum: by int16, by the definition. And
  /// their largest similarity.
  struct Large {
    double before = 0, after = 0, most = -kInfinity;
  };

  void add_large(const Source& source, Definition& definition, const DoubtfulAnchor& anchor,
                 std::span<const Vertex> others, Large& large);

  std::vector<Source> sources_;
  std::vector<Definition> definitions_;  ///< of each source: its anchors against what they meet
  const PairJudge& judge_;
  double temperature_;
  const Kernel& kernel_;
  const RunContext& run_;
  std::vector<FinePair> pairs_looked_at_, exact_pairs_;
  std::vector<std::int64_t> products_;
  std::vector<double> near_, exact_;
};

}  // namespace gcbs
