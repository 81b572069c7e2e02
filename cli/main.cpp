// The program: parse, do the verb, turn whatever went wrong into words on stderr and an exit code.
#include <unistd.h>

#include <exception>
#include <new>

#include "command_line.h"
#include "exit_code.h"
#include "signals.h"
#include "terminal.h"

namespace gcbs::cli {
namespace {

int exit_code_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::usage: return static_cast<int>(ExitCode::usage);
    case ErrorKind::input: return static_cast<int>(ExitCode::input);
    case ErrorKind::unsupported: return static_cast<int>(ExitCode::unsupported);
    case ErrorKind::resource: return static_cast<int>(ExitCode::resource);
    case ErrorKind::interrupted: return exit_code_of_signal(stop_signal());
    case ErrorKind::internal: break;
  }
  return static_cast<int>(ExitCode::internal);
}

int fail(Terminal& terminal, const Error& error) {
  if (error.kind() == ErrorKind::interrupted)
    terminal.print("gcbs: interrupted\n");
  else
    terminal.print(error);
  return exit_code_of(error);
}

int run(int argc, const char* const* argv, Terminal& terminal) {
  try {
    const Command command = parse_command_line(argc, argv);
    if (command.text)
      print_result(*command.text);
    else
      command.action(terminal);
    return static_cast<int>(ExitCode::done);
  } catch (const Error& error) {
    return fail(terminal, error);
  } catch (const std::bad_alloc&) {
    return fail(terminal, Error(ErrorKind::resource, "out of memory", "the system refused an allocation",
                                "free memory, or use fewer rows"));
  } catch (const std::exception& error) {
    return fail(terminal, Error(ErrorKind::internal, "unexpected failure", error.what(),
                                "this is a bug: please report it with the command and gcbs --version"));
  }
}

}  // namespace
}  // namespace gcbs::cli

int main(int argc, char** argv) {
  gcbs::cli::reserve_standard_descriptors();
  gcbs::cli::install_signal_handlers();
  gcbs::cli::Terminal terminal(STDERR_FILENO);
  return gcbs::cli::run(argc, argv, terminal);
}
