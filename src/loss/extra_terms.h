// The columns that a batch shares beside its own, in the loss.
#pragma once

#include <span>
#include <vector>

#include "loss/part.h"

namespace gcbs {

/// Adds s(x_i, y_e) of every row i of a batch and every extra row e, by the definition; -1 ends the extras.
/// `terms`: by place in the batch. `pairs`: the part of X and Y.
void add_extra_terms(const LossPart& pairs, std::span<const Vertex> members,
                     std::span<const std::int64_t> extras, double temperature, std::vector<Terms>& terms);

}  // namespace gcbs
