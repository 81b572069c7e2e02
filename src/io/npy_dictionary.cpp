// The header of a .npy file is a Python dictionary literal:
//     {'descr': '<f4', 'fortran_order': False, 'shape': (100, 768), }
// numpy evaluates it; this reads the few literals that a plain array's header can hold and refuses
// the rest by name. One pass, no recursion, no backtracking.
//
// Ensures: the three keys were there, each once; the shape's numbers fit 63 bits.
// Refused with a reason of their own: structured types (a list in 'descr'), negative dimensions.
#include <limits>

#include "io/npy.h"
#include "io/refuse.h"

namespace gcbs {
namespace {

constexpr const char* kSaveAgain = "save it again with numpy.save";
constexpr std::size_t kMostDimensions = 64;  // numpy's own limit

class LiteralReader {
 public:
  LiteralReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  /// Skips white space, then takes `wanted` if it stands here.
  bool take(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(std::string("'") + wanted + "' is missing");
  }

  std::string string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("a text does not end");
    const std::string_view value = text_.substr(at_, end - at_);
    if (value.find('\\') != std::string_view::npos) fail("a text holds a backslash");
    at_ = end + 1;
    return std::string(value);
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    fail("'fortran_order' is neither True nor False");
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    bool comma = true;  // "()" is a tuple, "(3)" is not
    expect('(');
    while (!take(')')) {
      if (values.size() == kMostDimensions) fail("'shape' has more than 64 dimensions");
      if (!comma) fail("',' is missing in 'shape'");
      values.push_back(integer());
      comma = take(',');
    }
    if (values.size() == 1 && !comma) fail("'shape' is not a tuple");
    return values;
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

  [[noreturn]] void fail(const std::string& reason) const {
    refuse(file_, "its .npy header is damaged near byte " + std::to_string(at_) + ": " + reason, kSaveAgain);
  }

 private:
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::uint64_t integer() {
    if (take('-')) fail("'shape' has a negative dimension");
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::uint64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > (kMost - digit) / 10) fail("'shape' has a dimension larger than any memory");
      value = 10 * value + digit;
    }
    if (at_ == begin) fail("'shape' holds something that is no whole number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const std::string& file_;
};

}  // namespace

NpyDictionary parse_npy_dictionary(std::string_view text, const std::string& file) {
  LiteralReader reader(text, file);
  NpyDictionary found;
  bool has_descr = false, has_order = false, has_shape = false;
  reader.expect('{');
  while (!reader.take('}')) {
    const std::string key = reader.string();
    reader.expect(':');
    bool* seen = key == "descr" ? &has_descr : key == "fortran_order" ? &has_order : &has_shape;
    if (seen == &has_shape && key != "shape") reader.fail("unknown key '" + printable(key) + "'");
    if (*seen) reader.fail("the key '" + key + "' stands twice");
    *seen = true;
    if (seen == &has_order) {
      found.fortran_order = reader.boolean();
    } else if (seen == &has_shape) {
      found.shape = reader.tuple();
    } else if (reader.take('[') || reader.take('(') || reader.take('{')) {
      refuse(file, "its values are structured records, not numbers",
             "save one field as a plain matrix: numpy.save(file, x['field'])");
    } else {
      found.descr = reader.string();
    }
    if (!reader.take(',')) {
      reader.expect('}');
      break;
    }
  }
  if (!reader.at_end()) reader.fail("text follows the dictionary");
  for (const auto& [seen, key] :
       {std::pair{has_descr, "descr"}, {has_order, "fortran_order"}, {has_shape, "shape"}})
    if (!seen) reader.fail(std::string("the key '") + key + "' is missing");
  return found;
}

}  // namespace gcbs
