// Files for the io tests: folders that vanish, bytes of .npy and .safetensors files honest or not,
// and children that may spoil their own limits and rights.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "gcbs/error.h"

namespace gcbs::test {

namespace fs = std::filesystem;

/// A fresh folder, removed with everything in it.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "gcbs-XXXXXX") {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
    ::chmod(path_.c_str(), 0755);
  }
  ~Folder() {
    ::chmod(path_.c_str(), 0755);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path_)) found.push_back(entry.path().filename());
    return found;
  }

 private:
  std::string path_;
};

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

/// A .npy file with any header; the length is the true one unless told.
inline std::string npy(const std::string& header, const std::string& data = "", int major = 1,
                       std::int64_t length = -1) {
  const auto claimed =
      static_cast<std::uint64_t>(length < 0 ? static_cast<std::int64_t>(header.size()) : length);
  return std::string("\x93NUMPY") + static_cast<char>(major) + '\0' +
         little_endian(claimed, major == 1 ? 2 : 4) + header + data;
}

inline std::string npy_dict(const std::string& descr, const std::string& shape,
                            const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

inline std::string safetensors(const std::string& json, const std::string& data = "",
                               std::int64_t length = -1) {
  const auto claimed =
      static_cast<std::uint64_t>(length < 0 ? static_cast<std::int64_t>(json.size()) : length);
  return little_endian(claimed, 8) + json + data;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::span<const std::byte> bytes_in(const std::string& text) { return std::as_bytes(std::span(text)); }

/// The Error that `call` throws; fails the test when it throws none.
template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_FALSE(error.problem().empty() || error.reason().empty() || error.fix().empty()) << error.what();
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorKind::internal, "nothing was thrown"};
}

/// Runs `check` in a forked child that may do to itself what it likes; true when it returned true.
template <class Check>
bool holds_in_child(Check&& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = false;
    try {
      good = check();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Root reads and writes everything; a child that gives its rights up does not.
inline bool become_nobody() {
  return ::geteuid() != 0 || (::setresgid(65534, 65534, 65534) == 0 && ::setresuid(65534, 65534, 65534) == 0);
}

/// True when `call` throws an Error of the kind whose text holds `words`; for use in a child.
template <class Call>
bool throws(ErrorKind kind, const std::string& words, Call&& call) {
  try {
    call();
    std::fprintf(stderr, "child: nothing was thrown\n");
  } catch (const Error& error) {
    if (error.kind() == kind && std::string(error.what()).find(words) != std::string::npos) return true;
    std::fprintf(stderr, "child: %s: %s\n", name_of(error.kind()), error.what());
  }
  return false;
}

}  // namespace gcbs::test
