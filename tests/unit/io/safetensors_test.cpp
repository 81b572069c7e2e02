// The .safetensors parser on bytes.
#include "io/safetensors.h"

#include <limits>
#include <string>

#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::bytes_in;
using test::safetensors;
using testing::HasSubstr;

MatrixLayout parse(const std::string& bytes, std::optional<std::string> wanted = {}) {
  return parse_safetensors(bytes_in(bytes), "x.safetensors", wanted);
}

Error refusal_of(const std::string& bytes, std::optional<std::string> wanted = {}) {
  const Error error = test::error_of([&] { parse(bytes, wanted); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.problem(), HasSubstr("x.safetensors"));
  return error;
}

void expect_refused(const std::string& bytes, const std::string& reason) {
  EXPECT_THAT(refusal_of(bytes).reason(), HasSubstr(reason));
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}

const std::string kData(48, '\0');

TEST(Safetensors, EveryType) {
  const std::pair<const char*, ValueType> types[] = {{"F32", ValueType::float32},
                                                     {"F16", ValueType::float16},
                                                     {"BF16", ValueType::bfloat16},
                                                     {"F64", ValueType::float64}};
  for (const auto& [dtype, type] : types) {
    const std::string end = std::to_string(6 * bytes_of(type));
    const std::string json = "{" + tensor("emb", dtype, "[2,3]", "[0," + end + "]") + "}  ";
    const MatrixLayout layout = parse(safetensors(json, kData), "emb");
    EXPECT_EQ(layout.type, type);
    EXPECT_EQ(layout.rows, 2u);
    EXPECT_EQ(layout.cols, 3u);
    EXPECT_EQ(layout.offset, 8 + json.size());
  }
}

TEST(Safetensors, TheOnlyMatrixNeedsNoName) {
  const std::string json = "{\"__metadata__\":{\"format\":\"pt\"}," + tensor("bias", "F32", "[3]", "[0,12]") +
                           "," + tensor("emb", "F32", "[1,3]", "[13,25]") + "}";
  const MatrixLayout layout = parse(safetensors(json, kData));
  EXPECT_EQ(layout.cols, 3u);
  EXPECT_EQ(layout.offset, 8 + json.size() + 13) << "any byte will do";
}

TEST(Safetensors, AnUnclearChoiceListsTheTensors) {
  const std::string two = safetensors(
      "{" + tensor("text", "F32", "[1,3]", "[0,12]") + "," + tensor("code", "F32", "[2,3]", "[12,36]") + "}",
      kData);
  const Error unnamed = refusal_of(two);
  EXPECT_THAT(unnamed.fix(), HasSubstr("x.safetensors:NAME"));
  EXPECT_THAT(unnamed.fix(), HasSubstr("code (2, 3), text (1, 3)"));
  const Error wrong = refusal_of(two, "docs");
  EXPECT_THAT(wrong.reason(), HasSubstr("no tensor 'docs'"));
  EXPECT_THAT(wrong.fix(), HasSubstr("code (2, 3), text (1, 3)"));
  EXPECT_EQ(parse(two, "code").rows, 2u);
}

TEST(Safetensors, ALongListIsCut) {
  std::string json = "{" + tensor("a", "F32", "[3]", "[0,12]");
  for (int i = 0; i < 400; ++i) json += "," + tensor("layer" + std::to_string(i), "F32", "[3]", "[0,12]");
  EXPECT_THAT(refusal_of(safetensors(json + "}", kData)).fix(), HasSubstr("and 381 more"));
}

TEST(Safetensors, CutShortAnywhereIsRefused) {
  const std::string whole =
      safetensors("{" + tensor("emb", "F32", "[2,3]", "[0,24]") + "}", std::string(24, '\0'));
  EXPECT_NO_THROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) expect_refused(whole.substr(0, size), "cut short");
}

TEST(Safetensors, LyingLengthsAndOffsets) {
  const std::string json = "{" + tensor("emb", "F32", "[2,3]", "[0,24]") + "}";
  expect_refused(safetensors(json, kData, 1000), "cut short");
  expect_refused(safetensors(json, kData, 200'000'000), "the format allows");
  expect_refused(safetensors(json, kData, std::numeric_limits<std::int64_t>::max()), "the format allows");
  expect_refused(safetensors(json, kData, 10), "header is damaged");
  expect_refused(safetensors("{" + tensor("emb", "F32", "[2,3]", "[100,124]") + "}", kData), "cut short");
  expect_refused(safetensors("{" + tensor("emb", "F32", "[2,3]", "[24,0]") + "}", kData), "'data_offsets'");
  expect_refused(safetensors("{" + tensor("emb", "F32", "[2,3]", "[0]") + "}", kData), "'data_offsets'");
  expect_refused(safetensors("{" + tensor("emb", "F32", "[2,3]", "[0,20]") + "}", kData),
                 "needs 24 bytes and has 20");
  expect_refused(safetensors("{" + tensor("emb", "F32", "[2,3]", "[0,28]") + "}", kData),
                 "needs 24 bytes and has 28");
  expect_refused(
      safetensors("{" + tensor("emb", "F32", "[2,3]", "[18446744073709551615,18446744073709551615]") + "}"),
      "cut short");
}

TEST(Safetensors, ShapesThatLieOrAreNoMatrix) {
  const auto with_shape = [](const std::string& shape, const std::string& offsets = "[0,48]") {
    return safetensors("{" + tensor("emb", "F32", shape, offsets) + "}", kData);
  };
  expect_refused(with_shape("[-2,3]"), "no whole number");
  expect_refused(with_shape("[2.0,3]"), "no whole number");
  expect_refused(with_shape("[\"2\",3]"), "no whole number");
  expect_refused(with_shape("[99999999999999999999999,3]"), "no whole number");
  expect_refused(with_shape("[4294967296,4294967296]"), "larger than any memory");
  expect_refused(with_shape("[4611686018427387904,4]"), "larger than any memory");
  expect_refused(with_shape("[0,3]", "[0,0]"), "has no values");
  expect_refused(with_shape("[3,0]", "[0,0]"), "has no values");
  expect_refused(with_shape("[12]"), "1-D array");
  expect_refused(with_shape("[2,2,3]"), "3-D array");
  expect_refused(with_shape("[]"), "0-D array");
  expect_refused(with_shape("7"), "no list 'shape'");
}

TEST(Safetensors, TypesThatAreNotTaken) {
  const Error error = refusal_of(safetensors("{" + tensor("emb", "I64", "[2,3]", "[0,48]") + "}", kData));
  EXPECT_THAT(error.reason(), HasSubstr("type 'I64'"));
  EXPECT_THAT(error.fix(), HasSubstr("torch.float32"));
}

TEST(Safetensors, HostileJson) {
  expect_refused(safetensors("{}", kData), "no tensor");
  expect_refused(safetensors("{\"a\":3}", kData), "not an object");
  expect_refused(safetensors("{\"a\":{}}", kData), "no 'dtype'");
  expect_refused(safetensors("{\"a\":{\"dtype\":7}}", kData), "no 'dtype'");
  expect_refused(safetensors("{\"a\"", kData), "header is damaged");
  expect_refused(safetensors("{} {}", kData), "header is damaged");
  expect_refused(safetensors("[1,2]", kData), "not a .safetensors file");
  expect_refused(safetensors("{\"\xff\xfe\":1}", kData), "header is damaged");
  const std::string once = tensor("a", "F32", "[2,3]", "[0,24]");
  expect_refused(safetensors("{" + once + "," + once + "}", kData), "'a' stands twice");
  expect_refused(safetensors("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F16\"}}", kData), "'dtype' stands twice");
  EXPECT_NO_THROW(parse(safetensors("{" + once + "," + tensor("b", "F32", "[3]", "[0,12]") + "}", kData)));

  std::string nested = "{\"a\":{\"b\":";
  for (int i = 0; i < 1'000'000; ++i) nested += '[';
  expect_refused(safetensors(nested, kData), "nested too deep");
  std::string endless = "{\"a\":{\"shape\":[0";
  for (int i = 0; i < 1'000'000; ++i) endless += ",0";
  expect_refused(safetensors(endless + "]}}", kData), "longer than any shape");
  expect_refused(safetensors("{\"a\":[1,2,3]}", kData), "a list stands where none belongs");
}

TEST(Safetensors, NamesCannotDriveTheTerminal) {
  const std::string json =
      "{" + tensor("\\u001b[2J", "F32", "[3]", "[0,12]") + "," + tensor("b", "F32", "[3]", "[0,12]") + "}";
  const Error error = refusal_of(safetensors(json, kData));
  EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
  EXPECT_THAT(error.what(), HasSubstr("?[2J"));
}

}  // namespace
}  // namespace gcbs
