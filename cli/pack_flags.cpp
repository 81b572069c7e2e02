#include "pack_flags.h"

#include <CLI/CLI.hpp>
#include <array>

#include "values.h"

namespace gcbs::cli {

void declare_pack(CLI::App& verb, PackFlags& flags) {
  const auto pack = [&](const char* name, auto& word, const char* text, const char* type) {
    verb.add_option(name, word, text)->type_name(type)->group("Batches");
  };
  pack("--objective", flags.objective,
       "what pack maximises in its blocks: loss (default), similarity (its sum), edges (their number)",
       "WHAT");
  pack("--effort", flags.effort, "how long pack searches: fast, default, best (many times as long)",
       "EFFORT");
  pack("--from", flags.from,
       "an order that pack improves, the last epoch's for example, instead of starting anew", "ORDER.npy");
}

PackRequest resolve_pack(const PackFlags& flags, bool packs) {
  constexpr Flag kObjective{"--objective", "--objective loss"}, kEffort{"--effort", "--effort best"};
  constexpr std::array kObjectives{"edges", "similarity", "loss"};
  constexpr std::array kEfforts{"fast", "default", "best"};
  PackRequest request;
  if (flags.objective)
    request.options.objective = choice(kObjective, *flags.objective, kObjectives, objective_from);
  if (flags.effort) request.options.effort = choice(kEffort, *flags.effort, kEfforts, effort_from);
  if (flags.from)
    request.from = needed(flags.from, "the name after --from", "an empty name is no file",
                          "for example --from order.npy");
  if (flags.any() && !packs)
    throw Error(ErrorKind::usage,
                std::string(flags.objective ? "--objective"
                            : flags.effort  ? "--effort"
                                            : "--from") +
                    " goes with the method pack",
                "no other method searches", "add pack to the methods, or leave it out");
  return request;
}

}  // namespace gcbs::cli
