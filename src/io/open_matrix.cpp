// Path -> matrix: which part of the path is the tensor's name, which format the bytes have.
//
// `a.safetensors:name` is split at the first ".safetensors:" unless a file of the whole name exists.
// The bytes decide the format, the extension only what is said when they are neither: a .npy that was
// renamed still opens.
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "gcbs/io.h"
#include "io/mapped_file.h"
#include "io/npy.h"
#include "io/refuse.h"
#include "io/safetensors.h"

namespace gcbs {
namespace {

struct Source {
  std::string path;
  std::optional<std::string> tensor;
};

Source split(const std::string& path) {
  constexpr std::string_view kEnding = ".safetensors:";
  const std::size_t found = path.find(kEnding);
  struct stat status {};
  if (found == std::string::npos || ::stat(path.c_str(), &status) == 0) return {path, {}};
  const std::size_t colon = found + kEnding.size() - 1;
  return {path.substr(0, colon), path.substr(colon + 1)};
}

bool starts_with(std::span<const std::byte> bytes, std::string_view wanted) {
  return bytes.size() >= wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), reinterpret_cast<const char*>(bytes.data()));
}

/// A plausible header length and the '{' that must follow it.
bool looks_like_safetensors(std::span<const std::byte> bytes) {
  constexpr std::size_t kLengthBytes = 8;
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == std::byte{'{'} &&
         bytes[kLengthBytes - 1] == std::byte{0};
}

/// Formats that people mistake for .npy get the right advice.
void refuse_foreign(std::span<const std::byte> bytes, const std::string& path) {
  if (starts_with(bytes, "PK\x03\x04"))
    refuse(path, "it is a zip archive (.npz, .pt or .zip)", "take the array out and save it with numpy.save");
  if (starts_with(bytes, "\x80\x04") || starts_with(bytes, "\x80\x05"))
    refuse(path, "it is a Python pickle, which is never loaded", "save the array with numpy.save");
  if (starts_with(bytes, "\x89HDF")) refuse(path, "it is an HDF5 file", "save the array with numpy.save");
}

MatrixLayout parse(const Source& source, std::span<const std::byte> bytes) {
  const auto ends_with = [&](std::string_view ending) {
    return std::string_view(source.path).ends_with(ending);
  };
  if (starts_with(bytes, kNpyMagic)) {
    if (source.tensor)
      refuse(source.path, "it is a .npy file, which holds one array without a name",
             "leave out ':" + printable(*source.tensor) + "'");
    return parse_npy(bytes, source.path);
  }
  if (looks_like_safetensors(bytes)) return parse_safetensors(bytes, source.path, source.tensor);
  refuse_foreign(bytes, source.path);
  // Neither: the parser that the name asks for says what is wrong.
  if (ends_with(".npy")) return parse_npy(bytes, source.path);
  if (ends_with(".safetensors")) return parse_safetensors(bytes, source.path, source.tensor);
  refuse(source.path, "its first bytes are neither those of a .npy nor of a .safetensors file",
         "give a .npy (numpy.save) or .safetensors file");
}

}  // namespace

std::vector<std::int64_t> read_integers(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  refuse_foreign(file->bytes(), path);
  return parse_npy_integers(file->bytes(), path);
}

FileMatrix open_matrix(const std::string& path) {
  const Source source = split(path);
  std::shared_ptr<const MappedFile> file = MappedFile::open(source.path);
  const MatrixLayout layout = parse(source, file->bytes());
  MatrixView view;
  view.data = file->bytes().data() + layout.offset;
  view.rows = layout.rows;
  view.cols = layout.cols;
  view.row_bytes = layout.cols * bytes_of(layout.type);
  view.type = layout.type;
  view.name = path;
  return {std::move(view), std::move(file)};
}

}  // namespace gcbs
