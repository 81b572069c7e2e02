// Kind by kind, the pairs that are left get an int16 product each; a product that exceeds the pair's limit
// by more than its bound speaks against the pair, one below it by as much lets it pass, and the few between
// are decided by the definition at once.
//
// x_i.x_j from rows that were centred for x.y: the centred rows are the same, only the offsets differ.
#include "similarity/pair_sieve.h"

#include <algorithm>
#include <array>

#include "matrix/equal_rows.h"

namespace gcbs {
namespace {

/// Pairs judged together where an answer may come early: the kernels like four and more.
constexpr std::size_t kAtOnce = 16;

/// Of each row, its product with `mean`, less `constant`.
Array<double> offsets_of(const Rows& rows, const std::vector<float>& mean, double constant,
                         const RunContext& run) {
  Array<double> offsets(rows.count(), run.meter);
  parallel_for(run, rows.count(), 256, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> row(rows.dim());
    for (std::size_t i = begin; i < end; ++i) {
      rows.read(i, row.data());
      offsets[i] = similarity(row.data(), mean.data(), row.size()) - constant;
    }
  });
  return offsets;
}

/// What belongs to places, by row.
Array<double> by_row(const Array<double>& values, const PlaceRows& places, const RunContext& run) {
  Array<double> rows(places.empty() ? values.size() : places.rows.size(), run.meter);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = values[places.place(i)];
  return rows;
}

}  // namespace

SieveOperands::SieveOperands(const PairJudge& judge, const FinePrepared& own, const RunContext& run) {
  const std::span<const Judged> judged = judge.judged();
  if (judged.empty()) return;
  if (judge.is_guided()) guide_ = prepare_fine(*judged[0].left, *judged[0].right, {}, {}, run);
  const FinePrepared& fine = guide_ ? *guide_ : own;
  const std::vector<std::uint32_t> equal_x = first_equal_rows(judged[0].left->matrix(), run);
  const std::vector<std::uint32_t> equal_y = first_equal_rows(judged[0].right->matrix(), run);
  for (const Judged& kind : judged) {
    const bool left_x = kind.left == judged[0].left, right_x = kind.right == judged[0].left;
    add(kind, left_x ? fine.x : fine.y, right_x && &kind != &judged[0] ? fine.x : fine.y, fine.rounding, run);
    classes_.emplace_back(left_x ? equal_x : equal_y, right_x && &kind != &judged[0] ? equal_x : equal_y);
  }
}

void SieveOperands::add(const Judged& judged, const FineOperand& left, const FineOperand& right,
                        double rounding, const RunContext& run) {
  Kind kind{&left, &right, left.scale * right.scale, {}, {}, {}, {}};
  const FineBound bound = separate_fine(left, right, rounding, run);
  kind.left_bound = by_row(bound.row, left.places, run);
  kind.right_bound = by_row(bound.col, right.places, run);
  if (&left != &right) {
    kind.left_offset = by_row(left.offset, left.places, run);
    kind.right_offset = by_row(right.offset, right.places, run);
  } else {
    const std::vector<float>& mean = left.mean;
    kind.left_offset = offsets_of(*judged.left, mean, similarity(mean.data(), mean.data(), mean.size()), run);
    kind.right_offset = offsets_of(*judged.right, mean, 0, run);
  }
  kinds_.push_back(std::move(kind));
}

PairSieve::PairSieve(const PairJudge& judge, const SieveOperands& operands, const Kernel& kernel)
    : judge_(judge), operands_(operands), kernel_(kernel) {
  for (std::size_t kind = 0; kind < judge.judged().size(); ++kind)
    definitions_.emplace_back(*judge.judged()[kind].left, *judge.judged()[kind].right,
                              &operands.classes_[kind]);
}

void PairSieve::judge(std::span<const SeenPair> pairs, std::span<std::uint8_t> admitted) {
  left_.clear();
  const Groups& groups = judge_.groups();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    admitted[p] = 0;
    if (pairs[p].row != pairs[p].col && !groups.are_mates(pairs[p].row, pairs[p].col)) left_.push_back(p);
  }
  for (std::size_t kind = 0; kind < judge_.judged().size(); ++kind) {
    look(kind, false, pairs);
    if (judge_.judged()[kind].both_ways) look(kind, true, pairs);
  }
  for (const std::size_t p : left_) admitted[p] = 1;
}

/// Drops from left_ the pairs of which this kind says that they are suspect.
void PairSieve::look(std::size_t kind, bool turned, std::span<const SeenPair> pairs) {
  const SieveOperands::Kind& operands = operands_.kinds_[kind];
  const Admissible& admissible = judge_.admissible();
  const auto turn = [turned](const SeenPair& pair) {
    return turned ? FinePair{pair.col, pair.row} : FinePair{pair.row, pair.col};
  };
  // What is known already needs no product.
  const bool known = kind == 0 && !turned && !judge_.is_guided();
  if (known)
    std::erase_if(left_, [&](std::size_t p) {
      const double limit = admissible.limit_of(pairs[p].row, pairs[p].col);
      return pairs[p].low > limit || (!(pairs[p].high <= limit) && pairs[p].high - pairs[p].low < 1 &&
                                      exceeds(kind, turn(pairs[p]), limit));
    });
  places_.clear();
  const auto needs_product = [&](std::size_t p) { return !known || pairs[p].high - pairs[p].low >= 1; };
  for (const std::size_t p : left_) {
    if (!needs_product(p)) continue;
    const FinePair pair = turn(pairs[p]);
    places_.push_back({operands.left->places.place(pair.row), operands.right->places.place(pair.col)});
  }
  if (places_.empty()) return;
  products_.resize(places_.size());
  kernel_.fine({operands.left->values.data(), operands.right->values.data(), operands.left->stride,
                places_.data(), places_.size(), products_.data()});
  const std::int64_t* product = products_.data();
  std::erase_if(left_, [&](std::size_t p) {
    if (!needs_product(p)) return false;
    const FinePair pair = turn(pairs[p]);
    const double limit = admissible.limit_of(pair.row, pair.col);
    const double value = operands.scale * static_cast<double>(*product++) + operands.left_offset[pair.row] +
                         operands.right_offset[pair.col];
    const double bound = operands.left_bound[pair.row] + operands.right_bound[pair.col];
    return value - bound > limit || (value + bound > limit && exceeds(kind, pair, limit));
  });
}

/// Of at most kAtOnce others. One suspect is enough; what no product decides is left to PairJudge.
bool PairSieve::meets_suspect_of_few(Vertex v, std::span<const Vertex> others) const {
  std::array<FinePair, kAtOnce> places;
  std::array<std::int64_t, kAtOnce> products;
  std::array<bool, kAtOnce> open{};
  for (std::size_t k = 0; k < operands_.kinds_.size(); ++k) {
    const SieveOperands::Kind& kind = operands_.kinds_[k];
    for (const bool turned : {false, true}) {
      if (turned && !judge_.judged()[k].both_ways) continue;
      const auto pair_with = [&](Vertex other) { return turned ? FinePair{other, v} : FinePair{v, other}; };
      for (std::size_t o = 0; o < others.size(); ++o) {
        const FinePair pair = pair_with(others[o]);
        places[o] = {kind.left->places.place(pair.row), kind.right->places.place(pair.col)};
      }
      kernel_.fine({kind.left->values.data(), kind.right->values.data(), kind.left->stride, places.data(),
                    others.size(), products.data()});
      for (std::size_t o = 0; o < others.size(); ++o) {
        const FinePair pair = pair_with(others[o]);
        const double limit = judge_.admissible().limit_of(v, others[o]);
        const double value = kind.scale * static_cast<double>(products[o]) + kind.left_offset[pair.row] +
                             kind.right_offset[pair.col];
        const double bound = kind.left_bound[pair.row] + kind.right_bound[pair.col];
        if (value - bound > limit) return true;
        open[o] = open[o] || value + bound > limit;
      }
    }
  }
  for (std::size_t o = 0; o < others.size(); ++o)
    if (open[o] && judge_.is_suspect(v, others[o])) return true;
  return false;
}

bool PairSieve::meets_suspect(Vertex v, std::span<const Vertex> others) const {
  if (!judge_.has_margins()) return false;
  for (std::size_t first = 0; first < others.size(); first += kAtOnce)
    if (meets_suspect_of_few(v, others.subspan(first, std::min(kAtOnce, others.size() - first)))) return true;
  return false;
}

bool PairSieve::exceeds(std::size_t kind, const FinePair& pair, double limit) {
  Definition& definition = definitions_[kind];
  const double near = definition.near(pair), bound = definition.near_bound();
  if (near - bound > limit) return true;
  if (near + bound <= limit) return false;
  double exact = 0;
  definition.evaluate({&pair, 1}, {&exact, 1});
  return exact > limit;
}

}  // namespace gcbs
