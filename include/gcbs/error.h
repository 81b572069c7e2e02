// What the library throws: one exception type with a kind and a what / why / fix text.
#pragma once

#include <exception>
#include <string>

namespace gcbs {

/// Who has to act: the caller (usage), the owner of the data (input), nobody (unsupported here),
/// the owner of the machine (resource), us (internal). `interrupted`: the observer asked to stop.
enum class ErrorKind { usage, input, unsupported, resource, internal, interrupted };

/// The only exception the library throws. `what()` joins the three parts into one sentence line.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string problem, std::string reason = {}, std::string fix = {});

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& reason() const noexcept { return reason_; }
  const std::string& fix() const noexcept { return fix_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  ErrorKind kind_;
  std::string problem_, reason_, fix_, text_;
};

const char* name_of(ErrorKind kind) noexcept;

}  // namespace gcbs
