// Two matrices -> threshold -> the edges s(i,j) > t, exactly as the float64 definition decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gcbs {

/// How t is found. exact: numpy's q-quantile of all N^2 values. estimate: from a sample, with an
/// interval. paper: the median of the quantiles of 3-row chunks, as in the paper's listing.
enum class ThresholdMode : std::uint8_t { exact, estimate, paper };

/// Heads, cluster order, equal rows scanned once (docs/algorithm.md): where they pay, always where they
/// can, or never; same answer always.
enum class Shortcut : std::uint8_t { automatic, on, off };

const char* name_of(ThresholdMode mode) noexcept;
std::optional<ThresholdMode> threshold_mode_from(std::string_view name) noexcept;
const char* name_of(Shortcut shortcut) noexcept;
std::optional<Shortcut> shortcut_from(std::string_view name) noexcept;

struct SimilarityOptions {
  /// Share of all N^2 values that stay at or below the threshold, in [0, 1). Wins over neighbours.
  std::optional<double> quantile;
  /// Mean number of kept entries a row; quantile = 1 - neighbours / N.
  std::optional<double> neighbours;
  ThresholdMode threshold = ThresholdMode::exact;
  Shortcut shortcut = Shortcut::automatic;
  /// Keep s(i,i) as an edge where it exceeds t, as the paper's listing does.
  bool keep_diagonal = false;
  /// Rows are unit vectors already (checked to 1e-3) and are used as they are.
  bool normalised = false;
  std::uint64_t seed = 0;
};

struct Threshold {
  ThresholdMode mode = ThresholdMode::exact;
  double value = 0;
  /// 95 % interval of the estimate; equal to value for the other modes.
  double low = 0, high = 0;
};

}  // namespace gcbs
