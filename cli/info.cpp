// `gcbs info`: what this build and this machine offer, and what a run would choose.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "gcbs/cpu.h"
#include "report/report.h"
#include "stopwatch.h"
#include "verbs.h"

namespace gcbs::cli {
namespace {

void run_info(bool json) {
  const Stopwatch total;
  MachineReport report{compiled_isas(), available_isas(), choose_isa(), usable_cores()};
  report.seconds = total.seconds();
  print_result(json ? json_of(report) : aligned(lines_of(report)));
}

}  // namespace

Verb declare_info(CLI::App& program) {
  CLI::App* verb = program.add_subcommand(
      "info",
      "Show the version, and the instruction sets this build has and this machine runs.\n"
      "Usage: gcbs info [--json]\n\n"
      "The environment variable GCBS_ISA forces an instruction set, as --isa does.");
  verb->footer("Example:\n  gcbs info --json");
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "print one JSON object")->group("Output");
  return {verb, [json](Terminal&) { run_info(*json); }};
}

}  // namespace gcbs::cli
