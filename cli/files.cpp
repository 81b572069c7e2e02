#include "files.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "gcbs/error.h"
#include "gcbs/io.h"
#include "signals.h"

namespace gcbs::cli {
namespace {

namespace fs = std::filesystem;

/// The file of `file.safetensors:tensor`.
fs::path file_of(const std::string& input) {
  constexpr std::string_view kMark = ".safetensors:";
  const std::size_t at = input.rfind(kMark);
  std::error_code ignored;
  if (at == std::string::npos || fs::exists(input, ignored)) return input;
  return input.substr(0, at + kMark.size() - 1);
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  // One of them is not there yet: compare where they would be.
  return fs::weakly_canonical(fs::absolute(a), error) == fs::weakly_canonical(fs::absolute(b), error) &&
         !error;
}

}  // namespace

void check_output(const std::string& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs)
    if (is_same_file(output, file_of(input)))
      throw Error(ErrorKind::usage, output + " is both an input and an output",
                  "writing it would destroy the input", "choose another name for the output");
  check_writable(output);
}

void check_outputs(std::span<const OutputFlag> outputs, std::span<const std::string> inputs) {
  for (std::size_t a = 0; a < outputs.size(); ++a) {
    if (outputs[a].path.empty()) continue;
    check_output(outputs[a].path, inputs);
    for (std::size_t b = 0; b < a; ++b)
      if (!outputs[b].path.empty() && is_same_file(outputs[a].path, outputs[b].path))
        throw Error(ErrorKind::usage,
                    std::string(outputs[b].flag) + " and " + outputs[a].flag + " name the same file " +
                        outputs[b].path,
                    "one would overwrite the other", "give them different names");
  }
}

void check_stop() {
  if (stop_signal() != 0) throw Error(ErrorKind::interrupted, "interrupted");
}

}  // namespace gcbs::cli
