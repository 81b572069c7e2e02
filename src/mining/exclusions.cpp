#include "mining/exclusions.h"

#include <string>

#include "gcbs/error.h"

namespace gcbs {
namespace {

void refuse_position(std::size_t row, std::int64_t position, std::size_t columns) {
  throw Error(ErrorKind::input,
              "the positive of row " + std::to_string(row) + " is given as row " + std::to_string(position),
              "the corpus has rows 0 to " + std::to_string(columns - 1),
              "give for each row of X the row of the corpus that is its positive");
}

std::vector<Vertex> checked_positives(const std::vector<std::int64_t>& given, std::size_t rows,
                                      std::size_t columns) {
  if (given.size() != rows)
    throw Error(ErrorKind::input,
                std::to_string(given.size()) + " positives for " + std::to_string(rows) + " rows",
                "every row has one positive", "give one row of the corpus for each row of X");
  std::vector<Vertex> positives(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (given[i] < 0 || given[i] >= static_cast<std::int64_t>(columns)) refuse_position(i, given[i], columns);
    positives[i] = static_cast<Vertex>(given[i]);
  }
  return positives;
}

}  // namespace

Exclusions::Exclusions(std::size_t rows, std::size_t columns,
                       const std::optional<std::vector<std::int64_t>>& positives,
                       std::span<const GroupIds> groups, std::vector<std::uint32_t> first_equal)
    : first_equal_(std::move(first_equal)) {
  if (positives)
    positives_ = checked_positives(*positives, rows, columns);
  else if (columns < rows)
    throw Error(ErrorKind::input,
                "the corpus has " + std::to_string(columns) + " rows for " + std::to_string(rows) + " of X",
                "row i of the corpus is the positive of row i unless told otherwise",
                "say which row of the corpus is the positive of each row of X");
  groups_ = Groups(groups, rows);
  if (!groups_.empty()) list_pairs(columns, rows);
}

void Exclusions::list_pairs(std::size_t columns, std::size_t rows) {
  offsets_.assign(columns + 1, 0);
  pairs_.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) ++offsets_[first_equal(positive(i)) + 1];
  for (std::size_t c = 0; c < columns; ++c) offsets_[c + 1] += offsets_[c];
  std::vector<Vertex> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t i = 0; i < rows; ++i) pairs_[next[first_equal(positive(i))]++] = static_cast<Vertex>(i);
}

}  // namespace gcbs
