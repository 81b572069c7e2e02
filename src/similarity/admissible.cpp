#include "similarity/admissible.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "gcbs/error.h"

namespace gcbs {

void check_filter(const FilterOptions& options) {
  if (options.relative_margin && !(*options.relative_margin >= 0 && *options.relative_margin <= 1))
    throw Error(ErrorKind::usage,
                "relative margin " + std::to_string(*options.relative_margin) + " is out of range",
                "it is a share of the positive's similarity", "use a value from 0 to 1");
  if (options.absolute_margin && !std::isfinite(*options.absolute_margin))
    throw Error(ErrorKind::usage, "the absolute margin is not a number", {}, "use for example 0.1");
  if (options.max_score && std::isnan(*options.max_score))
    throw Error(ErrorKind::usage, "the maximal score is not a number", {}, "use for example 0.9");
  if (options.guide_x.has_value() != options.guide_y.has_value())
    throw Error(ErrorKind::usage, "a guide has two sides, and one is missing",
                "pairs are judged by the guide's similarities of both", "give the guide's X and its Y");
  if ((options.symmetric || options.is_guided()) && !options.has_margins())
    throw Error(ErrorKind::usage,
                std::string(options.symmetric ? "symmetric judging" : "a guide") + " without a margin",
                "it says by which similarities suspects are judged, and there are no suspects without one",
                "add for example a relative margin of 0.05");
}

Admissible make_admissible(const FilterOptions& options, const Array<double>& positives,
                           const RunContext& run) {
  check_filter(options);
  Admissible admissible{Groups(options.groups, positives.size()), {}};
  if (!options.has_margins()) return admissible;
  // Each limit rises with the positive, so that the limit of the smaller positive is the smaller limit.
  admissible.limit = Array<double>(positives.size(), run.meter);
  for (std::size_t i = 0; i < positives.size(); ++i) {
    const double p = positives[i];
    double limit = options.max_score.value_or(std::numeric_limits<double>::infinity());
    if (options.relative_margin) limit = std::min(limit, p - *options.relative_margin * std::abs(p));
    if (options.absolute_margin) limit = std::min(limit, p - *options.absolute_margin);
    admissible.limit[i] = limit;
  }
  return admissible;
}

}  // namespace gcbs
