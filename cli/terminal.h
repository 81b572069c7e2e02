// All this program knows about terminals: whether there is one, its width, colour, the status line.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "gcbs/error.h"
#include "report/report.h"

namespace gcbs::cli {

enum class Style { bold, dim, red };

/// The stream that people read (stderr). Safe to use from several threads; never throws for a
/// stream that cannot be written, because losing words must not lose work.
class Terminal {
 public:
  explicit Terminal(int descriptor);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// True where a line can be drawn over: a terminal that is not dumb.
  bool can_redraw() const noexcept { return can_redraw_; }
  bool has_colour() const noexcept { return has_colour_; }

  /// `text` in a style, or as it is where there is no colour.
  std::string styled(Style style, std::string_view text) const;

  /// Prints whole lines; a status line in the way is removed first.
  void print(std::string_view lines);
  /// Prints labelled lines, the labels in a column.
  void print(std::span<const ReportLine> lines);
  /// Says what happened, why, and how to fix it.
  void print(const Error& error);

  /// Draws the status line over the one before, cut to the width. Nothing where it cannot be redrawn
  /// or the terminal belongs to another job now.
  void show_status(std::string_view line);
  void clear_status();
  /// Columns that a status line may fill now; the terminal may be resized at any time.
  unsigned status_width() const noexcept;

 private:
  void write_all(std::string_view text) noexcept;

  int descriptor_;
  bool can_redraw_, has_colour_;
  std::mutex mutex_;
};

/// Occupies the descriptors 0 to 2 where the caller closed them, so that no file of ours gets their
/// number and the words meant for people. Writing to one of them still fails.
void reserve_standard_descriptors() noexcept;

/// Removes a status line that is on the screen; async-signal-safe.
void clear_status_from_signal_handler() noexcept;

/// Writes a result to stdout, all of it, or throws Error(resource).
void print_result(std::string_view text);

/// "label   text" lines with the labels in a column, as print does without colour.
std::string aligned(std::span<const ReportLine> lines);

}  // namespace gcbs::cli
