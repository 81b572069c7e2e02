// The .safetensors format:
//     header length (64 bits) | JSON {"name": {"dtype", "shape", "data_offsets"}, ...} | data
// https://huggingface.co/docs/safetensors
//
// Ensures: the tensor found lies inside the bytes given and is exactly as long as its shape says.
// Every entry is checked, also those that are not wanted: a header with one lie is not believed.
// A tensor may start at any byte; rows are read without asking for alignment.
// Cost: the header is parsed whole (at most 100 MB, the format's own limit), the data are not touched.
// Hostile JSON (deep nesting, endless lists, a key twice) is stopped while it is being parsed.
#include "io/safetensors.h"

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "gcbs/error.h"
#include "io/refuse.h"

namespace gcbs {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;
constexpr int kDeepest = 3;  // { "name": { "shape": [ value
constexpr std::size_t kMostDimensions = 64;
constexpr std::size_t kMostListed = 20;
constexpr const char* kSaveAgain = "save it again with safetensors.torch.save_file";

struct Tensor {
  std::string name, dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // within the data
};

[[noreturn]] void damaged(const std::string& file, const std::string& reason) {
  refuse(file, "its .safetensors header is damaged: " + reason, kSaveAgain);
}

std::string_view find_header(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes + 2)
    refuse(file, "the file is cut short: it has " + std::to_string(bytes.size()) + " bytes",
           "copy or save it again");
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  if (bytes[kLengthBytes] != std::byte{'{'})
    refuse(file, "it is not a .safetensors file: no header stands at its start", kSaveAgain);
  if (length > kMostHeaderBytes)
    damaged(file, "it claims " + std::to_string(length) + " bytes, the format allows 100000000");
  if (length > bytes.size() - kLengthBytes)
    refuse(
        file,
        "the file is cut short: it ends within the header, which claims " + std::to_string(length) + " bytes",
        "copy or save it again");
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, static_cast<std::size_t>(length)};
}

/// Watches the parser: what no honest header holds ends the parsing at once.
class Guard {
 public:
  explicit Guard(const std::string& file) : file_(file) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kDeepest) damaged(file_, "it is nested too deep");
      if (event == Event::array_start && depth + 1 != kDeepest)
        damaged(file_, "a list stands where none belongs");
      if (event == Event::object_start) keys_[depth].clear();
      values_ = 0;
    } else if (event == Event::key) {
      // The keys of an object come one level below it.
      if (!keys_[depth - 1].insert(parsed.get<std::string>()).second)
        damaged(file_, "the key '" + printable(parsed.get<std::string>()) + "' stands twice");
    } else if (event == Event::value && depth == kDeepest) {
      if (++values_ > kMostDimensions) damaged(file_, "a list is longer than any shape");
    }
    return true;
  }

 private:
  const std::string& file_;
  std::set<std::string> keys_[kDeepest];
  std::size_t values_ = 0;
};

Json parse_json(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text, Guard(file));
  } catch (const Json::exception& error) {
    damaged(file, printable(error.what(), 200));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::resource, "cannot read " + file, "its header does not fit into memory",
                "free memory");
  }
}

std::vector<std::uint64_t> numbers(const Json& entry, const char* key, const std::string& name,
                                   const std::string& file) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array())
    damaged(file, "tensor '" + name + "' has no list '" + key + "'");
  std::vector<std::uint64_t> values;
  for (const Json& value : *found) {
    if (!value.is_number_unsigned())
      damaged(file,
              "tensor '" + name + "' has something in '" + key + "' that is no whole number, 0 or more");
    values.push_back(value.get<std::uint64_t>());
  }
  return values;
}

Tensor parse_tensor(const std::string& key, const Json& entry, std::uint64_t data_bytes,
                    const std::string& file) {
  const std::string name = printable(key);
  if (!entry.is_object()) damaged(file, "the entry of tensor '" + name + "' is not an object");
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) damaged(file, "tensor '" + name + "' has no 'dtype'");
  const auto offsets = numbers(entry, "data_offsets", name, file);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    damaged(file, "tensor '" + name + "' has no valid 'data_offsets'");
  if (offsets[1] > data_bytes)
    refuse(file,
           "the file is cut short: tensor '" + name + "' ends at byte " + std::to_string(offsets[1]) +
               " of the data and " + std::to_string(data_bytes) + " bytes are there",
           "copy or save it again");
  return {key, dtype->get<std::string>(), numbers(entry, "shape", name, file), offsets[0], offsets[1]};
}

std::string list_of(const std::vector<Tensor>& tensors) {
  std::string list;
  for (std::size_t i = 0; i < std::min(tensors.size(), kMostListed); ++i)
    list += (i == 0 ? "" : ", ") + printable(tensors[i].name) + " " + text_of(tensors[i].shape);
  if (tensors.size() > kMostListed) list += " and " + std::to_string(tensors.size() - kMostListed) + " more";
  return list;
}

const Tensor& choose(const std::vector<Tensor>& tensors, const std::string& file,
                     const std::optional<std::string>& wanted) {
  if (tensors.empty()) refuse(file, "it holds no tensor", "save the embeddings into it");
  if (wanted) {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == *wanted; });
    if (found != tensors.end()) return *found;
    refuse(file, "it holds no tensor '" + printable(*wanted) + "'", "name one of: " + list_of(tensors));
  }
  const auto is_matrix = [](const Tensor& t) { return t.shape.size() == 2; };
  const auto matrices = std::count_if(tensors.begin(), tensors.end(), is_matrix);
  if (matrices == 1) return *std::find_if(tensors.begin(), tensors.end(), is_matrix);
  if (tensors.size() == 1) return tensors[0];  // its shape is refused with the right words
  refuse(file,
         std::to_string(matrices) + " of its " + std::to_string(tensors.size()) + " tensors are matrices",
         "name one as " + file + ":NAME, there are: " + list_of(tensors));
}

ValueType type_of(const Tensor& tensor, const std::string& file) {
  constexpr std::pair<std::string_view, ValueType> kTypes[] = {{"F32", ValueType::float32},
                                                               {"F16", ValueType::float16},
                                                               {"BF16", ValueType::bfloat16},
                                                               {"F64", ValueType::float64}};
  for (const auto& [name, type] : kTypes)
    if (tensor.dtype == name) return type;
  refuse(file,
         "tensor '" + printable(tensor.name) + "' has type '" + printable(tensor.dtype, 40) +
             "', not F32, F16, BF16 or F64",
         "save it again with x.to(torch.float32)");
}

}  // namespace

MatrixLayout parse_safetensors(std::span<const std::byte> bytes, const std::string& file,
                               const std::optional<std::string>& wanted) {
  const std::string_view header = find_header(bytes, file);
  const std::size_t data_offset = kLengthBytes + header.size();
  std::vector<Tensor> tensors;
  const Json entries = parse_json(header, file);
  for (const auto& [key, entry] : entries.items())
    if (key != "__metadata__") tensors.push_back(parse_tensor(key, entry, bytes.size() - data_offset, file));

  const Tensor& tensor = choose(tensors, file, wanted);
  const MatrixLayout layout = layout_of(file, type_of(tensor, file), tensor.shape,
                                        data_offset + static_cast<std::size_t>(tensor.begin));
  if (layout.bytes() != tensor.end - tensor.begin)
    damaged(file, "tensor '" + printable(tensor.name) + "' of shape " + text_of(tensor.shape) + " needs " +
                      std::to_string(layout.bytes()) + " bytes and has " +
                      std::to_string(tensor.end - tensor.begin));
  return layout;
}

}  // namespace gcbs
