// Shows stage, percent, rate and time left.
//
// On a terminal: one line, redrawn ten times a second, from a fifth of a second on (a run that is
// over before shows nothing). Elsewhere (a log): a plain line after 2 s, then at twice the time each
// time, at least every minute; a short run leaves none, a day's run a few hundred.
//
// The library counts work in units of its own, so a rate is the share done times the rows (or, where
// a stage looks at all pairs, their number) over the time since the stage began.
#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "signals.h"

namespace gcbs::cli {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr auto kDrawEvery = 100ms, kFirstDraw = 200ms;
constexpr auto kFirstPlainLine = 2s;
constexpr std::chrono::seconds kPlainLineAtLeastEvery = 60s;
constexpr int kBarCells = 20;
constexpr double kSettledSeconds = 0.5;  ///< before that a rate says little

/// Stages whose work is all N^2 pairs; the others walk the rows.
bool walks_pairs(std::string_view stage) { return stage == "join" || stage == "threshold"; }

std::string rate_text(double per_second, const char* unit) {
  constexpr std::array kPrefixes{"", "k ", "M ", "G ", "T "};
  std::size_t prefix = 0;
  for (; per_second >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix) per_second /= 1000;
  return fmt::format("{:.3g} {}{}/s", per_second, kPrefixes[prefix], unit);
}

std::string time_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(std::min(seconds, 1e9)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

std::string bar_text(double share) {
  const int full = static_cast<int>(share * kBarCells);
  std::string bar(kBarCells, ' ');
  std::fill_n(bar.begin(), full, '=');
  if (full < kBarCells) bar[static_cast<std::size_t>(full)] = '>';
  return "[" + bar + "]";
}

/// What is known of a stage, as text; empty where it is not known yet.
struct Details {
  std::string percent, rate, left;
};

Details details_of(const StageProgress& now) {
  Details text;
  if (now.total <= 0) return text;
  const double share = std::clamp(now.done / now.total, 0.0, 1.0);
  text.percent = fmt::format("{:3.0f} %", std::floor(share * 100));
  if (share <= 0 || now.elapsed_seconds < kSettledSeconds) return text;
  const bool pairs = walks_pairs(now.stage);
  if (now.rows > 0)
    text.rate =
        rate_text(share * now.rows * (pairs ? now.rows : 1) / now.elapsed_seconds, pairs ? "pairs" : "rows");
  if (share < 1) text.left = time_text(now.elapsed_seconds * (1 - share) / share) + " left";
  return text;
}

std::string_view trimmed(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string joined(std::initializer_list<std::string_view> parts, std::string_view separator) {
  std::string text;
  for (const std::string_view part : parts)
    if (!part.empty()) text.append(text.empty() ? "" : separator).append(part);
  return text;
}

}  // namespace

std::string status_line(const StageProgress& now, unsigned width) {
  const std::string stage = fmt::format("{:<9}", now.stage);
  const Details text = details_of(now);
  if (text.percent.empty()) return joined({stage, time_text(std::floor(now.elapsed_seconds))}, "  ");
  const std::string bar = bar_text(std::clamp(now.done / now.total, 0.0, 1.0));
  // The widest that fits; what is missed least goes first.
  std::string line = joined({stage, bar, text.percent, text.rate, text.left}, "  ");
  if (line.size() > width) line = joined({stage, text.percent, text.rate, text.left}, "  ");
  if (line.size() > width) line = joined({now.stage, trimmed(text.percent), text.left}, "  ");
  return line;
}

std::string log_line(const StageProgress& now) {
  const Details text = details_of(now);
  return joined({"gcbs:", now.stage, joined({trimmed(text.percent), text.rate, text.left}, ", ")}, " ");
}

Progress::Progress(Terminal& terminal, bool quiet) : terminal_(terminal) {
  if (quiet) return;
  try {
    shower_ = std::jthread([this](const std::stop_token& stopping) { show(stopping); });
  } catch (const std::system_error&) {
    // No thread to be had: the run goes on unseen.
  }
}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (!shower_.joinable()) return;
  shower_.request_stop();
  shower_.join();
  terminal_.clear_status();
}

void Progress::set_rows(std::size_t rows) {
  const std::lock_guard lock(mutex_);
  state_.rows = static_cast<double>(rows);
}

void Progress::begin_stage(std::string_view name) {
  const std::lock_guard lock(mutex_);
  state_.stage = name;
  state_.done = state_.total = 0;
  stage_began_ = Clock::now();
}

void Progress::advance(double done, double total) {
  const std::lock_guard lock(mutex_);
  state_.done = done;
  state_.total = total;
}

bool Progress::stop_requested() noexcept { return stop_signal() != 0; }

StageProgress Progress::now() const {
  const std::lock_guard lock(mutex_);
  StageProgress now = state_;
  now.elapsed_seconds = Seconds(Clock::now() - stage_began_).count();
  return now;
}

void Progress::show(const std::stop_token& stopping) {
  const bool redraws = terminal_.can_redraw();
  Clock::duration next = redraws ? Clock::duration(kFirstDraw) : Clock::duration(kFirstPlainLine);
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, stopping, run_began_ + next, [] { return false; });
    }
    if (stopping.stop_requested()) return;
    if (redraws) {
      terminal_.show_status(status_line(now(), terminal_.status_width()));
      next = Clock::now() - run_began_ + kDrawEvery;
    } else {
      terminal_.print(log_line(now()) + "\n");
      next += std::min<Clock::duration>(next, kPlainLineAtLeastEvery);
    }
  }
}

}  // namespace gcbs::cli
