// Refusals: one form for every input file that cannot be used.
//
// A hostile file decides part of an error's text (type names, tensor names). It must not be able to
// drive the terminal that shows it, so such text is passed through printable() first.
#include "io/refuse.h"

#include <utility>

#include "gcbs/error.h"

namespace gcbs {

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  for (const char c : text) {
    if (shown.size() >= limit) return shown + "...";
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return shown;
}

void refuse(const std::string& file, std::string reason, std::string fix) {
  throw Error(ErrorKind::input, "cannot read " + file, std::move(reason), std::move(fix));
}

}  // namespace gcbs
