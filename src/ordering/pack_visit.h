// The search for swaps: what is worth doing in one block.
#pragma once

#include <array>
#include <vector>

#include "ordering/pack_state.h"

namespace gcbs {

inline constexpr Vertex kNoVertex = ~Vertex{0};

/// What visitors read, and nobody writes while they visit.
class Scene {
 public:
  Scene(const PackState& state, const BlockRules* rules, const RunContext& run);

  const PackState& state;
  double heat = 0;            ///< a loss h is accepted with probability e^(-h / heat)
  std::uint64_t seed = 0;     ///< of what is accepted, in this pass
  Array<float> stay;          ///< what each vertex, and its block, would lose if it left, about
  Array<std::uint8_t> awake;  ///< whether a look at the vertex may find something

  float measure_stay(Vertex v) const;
  /// What v's own anchors have where they are.
  float present_gain(Vertex v) const noexcept;

  /// The vertex of least stay.
  Vertex weakest(Vertex block) const noexcept { return weakest_[block]; }
  void find_weakest(Vertex block);

  /// Whether the rules let u and v, of different blocks, change places.
  bool may_swap(Vertex u, Vertex v) const;

  /// What a swap has to gain for u to take part in it.
  double least_gain(Vertex u) const;

 private:
  const BlockRules* rules_;
  std::vector<Vertex> weakest_;
};

/// What the logarithm of a sum of 1 loses by r less, about.
inline float fall(float r) noexcept { return r * (1 + r * (0.5f + r * 0.6f)); }

/// A vertex, and partners a swap with whom may gain more than `least`; with the first it does.
struct Proposal {
  static constexpr std::size_t kPartners = 3;
  Vertex vertex;
  std::array<Vertex, kPartners> partners;  ///< kNoVertex where there are fewer
  double least;
};

/// What was learned of an awake member.
struct Looked {
  Vertex vertex;
  float stay;
  bool wishes;  ///< another block would suit it better, could it only have a place there
};

struct Visit {
  std::vector<Proposal> proposals;
  std::vector<Looked> looked;
};

/// One worker's way round the blocks.
class Visitor {
 public:
  Visitor(const Scene& scene, const RunContext& run);
  Visit visit(Vertex block);

 private:
  /// The edges between a vertex and a block that it is not in.
  struct Ties {
    float others = 0;    ///< what the block's members would gain by the vertex
    float x = 0, y = 0;  ///< weights that the vertex would gain
  };
  /// A member, and a block that would suit it better.
  struct Wish {
    Vertex vertex, block;
    float gain;
    Ties ties;
  };
  /// Somebody there, and what would be gained by bringing him here.
  struct Candidate {
    Vertex vertex = kNoVertex;
    float gain = 0;
    Ties ties;
  };
  static constexpr std::size_t kCandidates = 5;  ///< one of them tied to nobody here
  struct Wanted {
    Vertex block;
    std::array<Candidate, kCandidates> candidates;
  };
  struct Trial {
    Vertex partner;
    float score;
  };

  float own_gain(Vertex v, float x, float y) const noexcept;
  void look_at(Vertex u, Vertex block, double least, Visit& visit);
  template <bool Out>
  void add_bounds(Vertex u, float share, float bar);
  template <bool Out>
  std::size_t add_ties(Vertex u, Vertex block, float bar, std::size_t entry, Ties& inside);
  void read_blocks(Vertex v);

  void look_around(Vertex block);
  template <bool Out>
  std::size_t add_joins(Vertex v, std::size_t entry);
  void enter(Wanted& wanted, const Candidate& candidate);

  void propose(std::span<const Wish> wishes, double least, Visit& visit);
  float margin(Vertex u, Vertex v) const noexcept;
  float score(const Wish& wish, const Candidate& candidate) const;

  const Scene& scene_;
  const PackState& state_;
  const PackModel& model_;
  SwapTrial trial_;
  MeteredVector<Vertex> entry_blocks_;  ///< of the members' list entries, one after the other
  MeteredVector<float> bounds_;         ///< of each block: what a vertex gains there at most
  MeteredVector<Ties> pulls_;           ///< of each block where that is enough
  std::vector<Vertex> promising_;       ///< those blocks
  std::vector<Wish> wishes_;            ///< of the block's members
  MeteredVector<std::uint32_t> slots_;  ///< of each block: its place in wanted_
  std::vector<Wanted> wanted_;
  MeteredVector<Ties> joins_;   ///< of the members of wanted blocks, with this one
  std::vector<Vertex> joined_;  ///< those that have any
};

}  // namespace gcbs
