#include "loss/extra_terms.h"

#include "similarity/definition.h"

namespace gcbs {

void add_extra_terms(const LossPart& pairs, std::span<const Vertex> members,
                     std::span<const std::int64_t> extras, double temperature, std::vector<Terms>& terms) {
  Definition definition(*pairs.left, *pairs.right);
  std::vector<FinePair> asked;
  std::vector<double> values(extras.size());
  for (std::size_t r = 0; r < members.size(); ++r) {
    asked.clear();
    for (const std::int64_t extra : extras)
      if (extra >= 0) asked.push_back({members[r], static_cast<Vertex>(extra)});
    definition.evaluate(asked, values);
    for (std::size_t e = 0; e < asked.size(); ++e) terms[r].add(values[e], values[e] / temperature);
  }
}

}  // namespace gcbs
