#include "batch_flags.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "values.h"

namespace gcbs::cli {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostExtra = 1'000'000;
constexpr Flag kBlock{"--block", "--block 16"}, kRandomShare{"--random-share", "--random-share 0.25"},
    kEpoch{"--epoch", "--epoch 3"}, kExtra{"--extra", "--extra 16"};

}  // namespace

void declare_batches(CLI::App& verb, BatchFlags& flags) {
  const auto batches = [&](const char* name, auto& word, const char* text, const char* type) {
    verb.add_option(name, word, text)->type_name(type)->group("Batches");
  };
  batches(
      "--block", flags.block,
      "cut the order into blocks of B rows, B a divisor of K, and mix them at random into batches: smaller "
      "is easier; default K",
      "B");
  batches("--random-share", flags.random_share,
          "draw this share of every batch from all rows at random, 0 <= P <= 1; default 0", "P");
  batches("--epoch", flags.epoch,
          "put the batches into another sequence for every epoch; default: the order's", "E");
  batches("--extra", flags.extra,
          "columns shared by the batch: for each batch the E rows outside it whose y weigh most in the "
          "softmax of "
          "its x; default 0",
          "E");
}

BatchOptions resolve_batches(const BatchFlags& flags, std::size_t batch_size) {
  BatchOptions options;
  if (flags.block) {
    options.block = whole_number(kBlock, *flags.block, 1, kNoLimit);
    if (options.block > batch_size || batch_size % options.block != 0)
      throw wrong_value(kBlock, *flags.block, "a divisor of the batch size, " + std::to_string(batch_size));
  }
  if (flags.random_share) {
    options.random_share = real_number(kRandomShare, *flags.random_share);
    if (!(options.random_share >= 0 && options.random_share <= 1))
      throw wrong_value(kRandomShare, *flags.random_share, "a number from 0 to 1");
  }
  if (flags.epoch) options.epoch = whole_number(kEpoch, *flags.epoch, 0, kNoLimit);
  if (flags.extra) options.extra = whole_number(kExtra, *flags.extra, 1, kMostExtra);
  return options;
}

}  // namespace gcbs::cli
