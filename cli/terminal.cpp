// The terminal on stderr, by a handful of escape codes that every terminal of the last forty years
// knows: carriage return, erase to end of line, bold, dim, red. The cursor is never hidden and no
// mode is changed, so that nothing is left to restore but the status line, even after a kill.
//
// Manners: NO_COLOR and TERM=dumb are honoured; a status line leaves the last three columns free, so
// that it never wraps, not even with the ^C that a terminal echoes into it; a job in the background draws
// none; text that comes from file names has its control characters shown as '?', so that a hostile name
// cannot drive the terminal.
#include "terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gcbs::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr unsigned kUsualWidth = 80, kSpareColumns = 3;

/// The descriptor that shows a status line now, or -1. For the signal handler, hence static.
std::atomic<int> status_descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free);

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || *term == '\0' || std::strcmp(term, "dumb") == 0;
}

std::string without_controls(std::string_view text) {
  std::string clean(text);
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
  };
  std::replace_if(clean.begin(), clean.end(), is_control, '?');
  return clean;
}

/// Bytes of `text` that fill at most `columns`, counting a UTF-8 sequence as one.
std::size_t bytes_in_columns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool starts_character = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (starts_character && columns-- == 0) break;
  }
  return at;
}

/// False when part of the text could not be written; errno says why.
bool write_fully(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::size_t label_width(std::span<const ReportLine> lines) {
  std::size_t width = 0;
  for (const ReportLine& line : lines) width = std::max(width, line.label.size());
  return width + 2;
}

}  // namespace

Terminal::Terminal(int descriptor)
    : descriptor_(descriptor),
      can_redraw_(isatty(descriptor) == 1 && !is_dumb()),
      has_colour_(can_redraw_ && !is_set("NO_COLOR")) {}

Terminal::~Terminal() { clear_status(); }

unsigned Terminal::status_width() const noexcept {
  winsize size{};
  const bool known = ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::max<unsigned>(known ? size.ws_col : kUsualWidth, kSpareColumns + 1) - kSpareColumns;
}

std::string Terminal::styled(Style style, std::string_view text) const {
  if (!has_colour_ || text.empty()) return std::string(text);
  const char* code = style == Style::bold ? "\x1b[1m" : style == Style::dim ? "\x1b[2m" : "\x1b[1;31m";
  return std::string(code).append(text).append("\x1b[0m");
}

void Terminal::print(std::string_view lines) {
  clear_status();
  const std::lock_guard lock(mutex_);
  write_all(lines);
}

void Terminal::print(std::span<const ReportLine> lines) {
  const std::size_t width = label_width(lines);
  std::string text;
  for (const ReportLine& line : lines) {
    const std::string padding(width - line.label.size(), ' ');
    text += styled(Style::dim, line.label) + padding + without_controls(line.text) + "\n";
  }
  print(text);
}

void Terminal::print(const Error& error) {
  std::string text = styled(Style::bold, "gcbs:") + " " + styled(Style::red, "error:") + " " +
                     without_controls(error.problem()) + "\n";
  if (!error.reason().empty()) text += "  why: " + without_controls(error.reason()) + "\n";
  if (!error.fix().empty()) text += "  fix: " + without_controls(error.fix()) + "\n";
  print(text);
}

void Terminal::show_status(std::string_view line) {
  if (!can_redraw_) return;
  const pid_t owner = tcgetpgrp(descriptor_);
  if (owner > 0 && owner != getpgrp()) return;
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = bytes_in_columns(line, status_width());
  status_descriptor.store(descriptor_);
  write_all(std::string(kEraseLine).append(line.substr(0, bytes)));
}

void Terminal::clear_status() {
  const std::lock_guard lock(mutex_);
  int shown = descriptor_;
  if (status_descriptor.compare_exchange_strong(shown, -1)) write_all(kEraseLine);
}

void Terminal::write_all(std::string_view text) noexcept { write_fully(descriptor_, text); }

void reserve_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // Takes the lowest free number, which is this one.
    [[maybe_unused]] const int taken = open("/dev/null", O_RDONLY);
  }
}

void clear_status_from_signal_handler() noexcept {
  const int descriptor = status_descriptor.exchange(-1);
  if (descriptor >= 0) write_fully(descriptor, kEraseLine);
}

void print_result(std::string_view text) {
  if (write_fully(STDOUT_FILENO, text)) return;
  throw Error(ErrorKind::resource, "the result could not be written to stdout", std::strerror(errno),
              "send it where there is room and a reader; files named by -o are complete");
}

std::string aligned(std::span<const ReportLine> lines) {
  const std::size_t width = label_width(lines);
  std::string text;
  for (const ReportLine& line : lines)
    text += line.label + std::string(width - line.label.size(), ' ') + line.text + "\n";
  return text;
}

}  // namespace gcbs::cli
