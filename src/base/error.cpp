#include "gcbs/error.h"

#include <utility>

namespace gcbs {

Error::Error(ErrorKind kind, std::string problem, std::string reason, std::string fix)
    : kind_(kind), problem_(std::move(problem)), reason_(std::move(reason)), fix_(std::move(fix)) {
  text_ = problem_;
  if (!reason_.empty()) text_ += ": " + reason_;
  if (!fix_.empty()) text_ += "; " + fix_;
}

const char* name_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::input: return "input";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::resource: return "resource";
    case ErrorKind::internal: return "internal";
    case ErrorKind::interrupted: return "interrupted";
  }
  return "unknown";
}

}  // namespace gcbs
