// The gap: what a batch sees of the loss over all pairs, and the paper's bounds on the rest (docs/gap.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gcbs/filter.h"

namespace gcbs {

/// Whose rows are the anchors: those of X against all y, those of Y against all x, or the mean of both.
enum class Direction : std::uint8_t { x, y, both };

/// clip: x_i against the y of its batch. simclr: against both views of all others, 2 k - 1 terms.
enum class Form : std::uint8_t { clip, simclr };

const char* name_of(Direction direction) noexcept;
std::optional<Direction> direction_from(std::string_view name) noexcept;
const char* name_of(Form form) noexcept;
std::optional<Form> form_from(std::string_view name) noexcept;

struct LossOptions {
  double temperature = 0.05;
  Direction direction = Direction::both;
  Form form = Form::clip;
  FilterOptions filter;
  std::size_t random_trials = 100;
};

struct ByDirection {
  double x = 0, y = 0, both = 0;
  double operator[](Direction direction) const noexcept {
    return direction == Direction::x ? x : direction == Direction::y ? y : both;
  }
};

/// Upper bounds of the gap (Theorems 1 and 2) and lower bounds of L_train (Lemmas 2 and 3).
struct Bounds {
  double theorem1 = 0, theorem2 = 0, lemma2 = 0, lemma3 = 0;
};

struct BatchLoss {
  double loss = 0;
  double hardness = 0;  ///< the mean share of the softmax that negatives get
};

}  // namespace gcbs
