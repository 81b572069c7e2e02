// The .npy format, versions 1.0, 2.0 and 3.0:
//     "\x93NUMPY" major minor | header length (16 bits in 1.0, else 32) | header | data
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Ensures: the matrix found lies inside the bytes given. Bytes after it are ignored, as numpy does
// (several arrays may be saved one after the other in one file). Nothing is copied or allocated but
// the header's few words, whatever the header claims. Objects are never unpickled.
//
// bfloat16: numpy has no such type. ml_dtypes (jax, tensorflow) adds one that numpy.save writes as
// '<V2', two opaque bytes with a byte order: no other type is written so, and it is read as bfloat16.
// Some writers put the name 'bfloat16' itself: read too. '|V2', opaque bytes without an order, is what
// is left once such a file went through numpy without ml_dtypes: it may be anything, and is refused.
#include "io/npy.h"

#include <cstring>
#include <optional>

#include "io/refuse.h"

namespace gcbs {
namespace {

constexpr std::size_t kMagicBytes = 8;             // with the two version bytes
constexpr std::size_t kMostHeaderBytes = 1 << 20;  // a matrix needs some 120
constexpr std::size_t kHeaderAlignment = 64;
constexpr std::size_t kGrowthDigits = 21;  // numpy leaves room to grow the first dimension in place

std::size_t little_endian(std::span<const std::byte> bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::size_t>(bytes[i]);
  return value;
}

/// The header's text and where the data begin.
struct Header {
  std::string_view text;
  std::size_t data_offset;
};

Header find_header(std::span<const std::byte> bytes, const std::string& file) {
  const std::size_t compared = std::min(bytes.size(), kNpyMagic.size());
  if (compared == 0 || std::memcmp(bytes.data(), kNpyMagic.data(), compared) != 0)
    refuse(file, "it is not a .npy file: its first bytes are not those of one",
           "save it with numpy.save(file, x)");
  const auto truncated = [&](const std::string& missing) {
    refuse(file, "the file is cut short: it ends within " + missing, "copy or save it again");
  };
  if (bytes.size() < kMagicBytes) truncated("the first 8 bytes");
  const auto major = std::to_integer<unsigned>(bytes[6]), minor = std::to_integer<unsigned>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    refuse(file,
           "its .npy version is " + std::to_string(major) + "." + std::to_string(minor) +
               ", known are 1.0, 2.0, 3.0",
           "save it again with numpy.save");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = kMagicBytes + length_bytes;
  if (bytes.size() < begin) truncated("the header's length");
  const std::size_t length = little_endian(bytes.subspan(kMagicBytes, length_bytes));
  if (length > bytes.size() - begin)
    truncated("the header, which claims " + std::to_string(length) + " bytes");
  if (length > kMostHeaderBytes)
    refuse(file, "its header of " + std::to_string(length) + " bytes is no plain matrix's",
           "save a plain matrix with numpy.save");
  return {{reinterpret_cast<const char*>(bytes.data()) + begin, length}, begin + length};
}

std::optional<ValueType> float_type(std::string_view code) {
  if (code == "f4") return ValueType::float32;
  if (code == "f2") return ValueType::float16;
  if (code == "f8") return ValueType::float64;
  return {};
}

ValueType type_of(const std::string& descr, const std::string& file) {
  if (descr == "<V2" || descr == "bfloat16") return ValueType::bfloat16;
  const bool has_order = !descr.empty() && std::strchr("<>=|", descr[0]) != nullptr;
  const char order = has_order ? descr[0] : '=';
  const std::string_view code = std::string_view(descr).substr(has_order ? 1 : 0);
  if (const auto type = float_type(code)) {
    if (order == '<' || order == '=') return *type;
    refuse(file, "its values are stored in swapped byte order ('" + descr + "')",
           "save it again with x.astype('<" + std::string(code) + "')");
  }
  if (code.starts_with('O'))
    refuse(file, "it holds pickled Python objects, which are never loaded",
           "save numbers: numpy.save(file, numpy.stack(list(x)).astype('<f4'))");
  if (descr == "|V2")
    refuse(file, "its values are two opaque bytes each ('|V2')",
           "if they are bfloat16, save x.view(ml_dtypes.bfloat16), or use .safetensors");
  refuse(file,
         "its values have type '" + printable(descr, 40) + "', not float32, float16, bfloat16 or float64",
         "save it again with x.astype('<f4')");
}

struct IntegerType {
  std::size_t bytes;
  bool is_signed;
};

IntegerType integer_type_of(const std::string& descr, const std::string& file) {
  const bool has_order = !descr.empty() && std::strchr("<>=|", descr[0]) != nullptr;
  const std::string_view code = std::string_view(descr).substr(has_order ? 1 : 0);
  for (const char size : {'1', '2', '4', '8'})
    for (const char kind : {'i', 'u'})
      if (code.size() == 2 && code[0] == kind && code[1] == size) {
        if (descr[0] == '>' && size != '1')
          refuse(file, "its values are stored in swapped byte order ('" + descr + "')",
                 "save it again with x.astype('<i8')");
        return {static_cast<std::size_t>(size - '0'), kind == 'i'};
      }
  refuse(file, "its values have type '" + printable(descr, 40) + "', not whole numbers",
         "save it again with x.astype('<i8')");
}

}  // namespace

MatrixLayout parse_npy(std::span<const std::byte> bytes, const std::string& file) {
  const Header header = find_header(bytes, file);
  const NpyDictionary entries = parse_npy_dictionary(header.text, file);
  const ValueType type = type_of(entries.descr, file);
  const MatrixLayout layout = layout_of(file, type, entries.shape, header.data_offset);
  // One row or one column lies the same in both orders.
  if (entries.fortran_order && layout.rows > 1 && layout.cols > 1)
    refuse(file, "it is stored column by column (Fortran order)",
           "save it again with numpy.save(file, numpy.ascontiguousarray(x))");
  const std::size_t held = bytes.size() - header.data_offset;
  if (layout.bytes() > held)
    refuse(file,
           "the file is cut short: shape " + text_of(entries.shape) + " of " + name_of(type) + " needs " +
               std::to_string(layout.bytes()) + " bytes of data and " + std::to_string(held) + " are there",
           "copy or save it again");
  return layout;
}

std::vector<std::int64_t> parse_npy_integers(std::span<const std::byte> bytes, const std::string& file) {
  const Header header = find_header(bytes, file);
  const NpyDictionary entries = parse_npy_dictionary(header.text, file);
  const IntegerType type = integer_type_of(entries.descr, file);
  if (entries.shape.size() != 1)
    refuse(
        file,
        "it holds a " + std::to_string(entries.shape.size()) + "-D array of shape " + text_of(entries.shape),
        "save a vector, one number a row");
  const std::size_t held = bytes.size() - header.data_offset;
  if (entries.shape[0] > held / type.bytes)
    refuse(file,
           "the file is cut short: " + std::to_string(entries.shape[0]) + " numbers of " +
               std::to_string(type.bytes) + " bytes are more than the " + std::to_string(held) +
               " bytes of data",
           "copy or save it again");
  std::vector<std::int64_t> values(static_cast<std::size_t>(entries.shape[0]));
  const std::byte* from = bytes.data() + header.data_offset;
  for (std::int64_t& value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, type.bytes);
    from += type.bytes;
    const unsigned unused = 64 - 8 * static_cast<unsigned>(type.bytes);
    value = type.is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                           : static_cast<std::int64_t>(bits);
    if (!type.is_signed && value < 0)
      refuse(file, "it holds " + std::to_string(bits) + ", which int64 cannot", "use smaller numbers");
  }
  return values;
}

std::string npy_header(std::string_view descr, std::span<const std::uint64_t> shape) {
  std::string text =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + text_of(shape) + ", }";
  if (!shape.empty()) text.append(kGrowthDigits - std::to_string(shape[0]).size(), ' ');
  const std::size_t before = kMagicBytes + 2 + text.size() + 1;
  text.append(kHeaderAlignment - before % kHeaderAlignment, ' ');
  text += '\n';
  std::string header(kNpyMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace gcbs
