// The .npy parser on bytes: what numpy writes is understood, what is wrong is refused with its name.
#include "io/npy.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::bytes_in;
using test::npy;
using test::npy_dict;
using testing::HasSubstr;

MatrixLayout parse(const std::string& bytes) { return parse_npy(bytes_in(bytes), "x.npy"); }

/// The refusal of these bytes: Error(input), naming the file, and saying `reason` and `fix`.
void expect_refused(const std::string& bytes, const std::string& reason, const std::string& fix = "") {
  const Error error = test::error_of([&] { parse(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.problem(), HasSubstr("x.npy"));
  EXPECT_THAT(error.reason(), HasSubstr(reason));
  EXPECT_THAT(error.fix(), HasSubstr(fix));
}

TEST(Npy, EveryTypeInEveryVersion) {
  const std::pair<const char*, ValueType> types[] = {
      {"<f4", ValueType::float32},      {"<f2", ValueType::float16}, {"<f8", ValueType::float64},
      {"<V2", ValueType::bfloat16},     {"f4", ValueType::float32},  {"=f8", ValueType::float64},
      {"bfloat16", ValueType::bfloat16}};
  for (const auto& [descr, type] : types)
    for (const int major : {1, 2, 3}) {
      const std::string header = npy_dict(descr, "(3, 5)");
      const MatrixLayout layout = parse(npy(header, std::string(15 * bytes_of(type), '\0'), major));
      EXPECT_EQ(layout.type, type) << descr;
      EXPECT_EQ(layout.rows, 3u);
      EXPECT_EQ(layout.cols, 5u);
      EXPECT_EQ(layout.offset, (major == 1 ? 10 : 12) + header.size());
    }
}

TEST(Npy, SpacingQuotesAndKeyOrderDoNotMatter) {
  const std::string data(24, '\0');
  for (const char* header :
       {"{'shape':(2,3),'fortran_order':False,'descr':'<f4'}",
        " {\"descr\" : \"<f4\" ,\n\t'shape': ( 2 , 3 , ) , 'fortran_order':False , }  \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }"}) {
    const MatrixLayout layout = parse(npy(header, data));
    EXPECT_EQ(layout.rows, 2u);
    EXPECT_EQ(layout.cols, 3u);
  }
}

TEST(Npy, FortranOrderOfOneRowOrColumnIsNoDifference) {
  EXPECT_EQ(parse(npy(npy_dict("<f4", "(1, 4)", "True"), std::string(16, '\0'))).cols, 4u);
  EXPECT_EQ(parse(npy(npy_dict("<f4", "(4, 1)", "True"), std::string(16, '\0'))).rows, 4u);
  expect_refused(npy(npy_dict("<f4", "(2, 2)", "True"), std::string(16, '\0')), "Fortran order",
                 "numpy.ascontiguousarray");
}

TEST(Npy, BytesAfterTheMatrixAreIgnoredAsNumpyDoes) {
  EXPECT_EQ(parse(npy(npy_dict("<f4", "(1, 1)"), std::string(9, '\0'))).rows, 1u);
}

TEST(Npy, CutShortAnywhereIsRefused) {
  const std::string whole = npy(npy_dict("<f4", "(2, 3)"), std::string(24, '\0'));
  EXPECT_NO_THROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = test::error_of([&] { parse(whole.substr(0, size)); });
    EXPECT_EQ(error.kind(), ErrorKind::input) << size;
    EXPECT_THAT(error.reason(), HasSubstr(size == 0 ? "not a .npy" : "cut short")) << size;
  }
}

TEST(Npy, WrongMagicAndVersion) {
  expect_refused("hello, world", "not a .npy file", "numpy.save");
  expect_refused(npy(npy_dict("<f4", "(1, 1)"), "1234", 4), "version is 4.0");
  expect_refused(npy(npy_dict("<f4", "(1, 1)"), "1234", 0), "version is 0.0");
}

TEST(Npy, ALyingHeaderLengthIsRefused) {
  const std::string header = npy_dict("<f4", "(1, 1)");
  expect_refused(npy(header, "1234", 1, 65535), "claims 65535 bytes");
  expect_refused(npy(header, "1234", 2, 0xffffffff), "claims 4294967295 bytes");
  expect_refused(npy(header, "1234", 1, 0), "header is damaged");
  expect_refused(npy(header, "1234", 1, 20), "header is damaged");
  expect_refused(npy(header + std::string(2 << 20, ' '), "1234", 2), "no plain matrix's");
}

TEST(Npy, ShapesThatAreNoMatrix) {
  const std::string data(64, '\0');
  expect_refused(npy(npy_dict("<f4", "()"), data), "0-D array", "reshape");
  expect_refused(npy(npy_dict("<f4", "(4,)"), data), "1-D array of shape (4,)", "reshape");
  expect_refused(npy(npy_dict("<f4", "(2, 2, 2)"), data), "3-D array of shape (2, 2, 2)", "reshape");
  expect_refused(npy(npy_dict("<f4", "(0, 3)"), data), "has no values");
  expect_refused(npy(npy_dict("<f4", "(3, 0)"), data), "has no values");
}

TEST(Npy, ShapesThatLie) {
  const std::string data(64, '\0');
  expect_refused(npy(npy_dict("<f4", "(4, 5)"), data), "needs 80 bytes of data and 64 are there");
  expect_refused(npy(npy_dict("<f4", "(-1, 4)"), data), "negative dimension");
  expect_refused(npy(npy_dict("<f4", "(4294967296, 4294967296)"), data), "larger than any memory");
  expect_refused(npy(npy_dict("<f8", "(1152921504606846976, 2)"), data), "larger than any memory");
  expect_refused(npy(npy_dict("<f4", "(9223372036854775807, 1)"), data), "larger than any memory");
  expect_refused(npy(npy_dict("<f4", "(9223372036854775808, 1)"), data), "larger than any memory");
  expect_refused(npy(npy_dict("<f4", "(99999999999999999999999999, 1)"), data), "larger than any memory");
  expect_refused(npy(npy_dict("<f4", "(1e9, 1)"), data), "',' is missing");
  expect_refused(npy(npy_dict("<f4", "(0x10, 1)"), data), "',' is missing");
  expect_refused(npy(npy_dict("<f4", "(4)"), data), "not a tuple");
  expect_refused(npy(npy_dict("<f4", "(,)"), data), "no whole number");
  expect_refused(npy(npy_dict("<f4", "[2, 2]"), data), "'(' is missing");
  std::string many = "(";
  for (int i = 0; i < 100; ++i) many += "1,";
  expect_refused(npy(npy_dict("<f4", many + ")"), data), "more than 64 dimensions");
}

TEST(Npy, TypesThatAreNotTaken) {
  const std::string data(64, '\0');
  expect_refused(npy(npy_dict(">f4", "(2, 2)"), data), "swapped byte order", ".astype('<f4')");
  expect_refused(npy(npy_dict(">f8", "(2, 2)"), data), "swapped byte order", ".astype('<f8')");
  expect_refused(npy(npy_dict("|O", "(2, 2)"), data), "pickled Python objects");
  expect_refused(npy(npy_dict("<i8", "(2, 2)"), data), "type '<i8'", ".astype('<f4')");
  expect_refused(npy(npy_dict("<f16", "(2, 2)"), data), "type '<f16'");
  expect_refused(npy(npy_dict("<c8", "(2, 2)"), data), "type '<c8'");
  expect_refused(npy(npy_dict("", "(2, 2)"), data), "type ''");
  expect_refused(npy(npy_dict("|V2", "(2, 2)"), data), "opaque", "bfloat16");
  expect_refused(npy(npy_dict("\x1b[31m", "(2, 2)"), data), "type '?[31m'");
  expect_refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2), }", data),
                 "structured");
}

TEST(Npy, HeadersThatAreNoDictionary) {
  expect_refused(npy("", ""), "'{' is missing");
  expect_refused(npy("__import__('os')", ""), "'{' is missing");
  expect_refused(npy("{'descr': '<f4', 'fortran_order': False, }", ""), "'shape' is missing");
  expect_refused(npy("{}", ""), "'descr' is missing");
  expect_refused(npy("{'descr': '<f4', 'descr': '<f4', }", ""), "stands twice");
  expect_refused(npy("{'descr': '<f4', 'color': 3, }", ""), "unknown key 'color'");
  expect_refused(npy("{'descr': '<f4", ""), "does not end");
  expect_refused(npy("{'descr': '\\x3c', }", ""), "backslash");
  expect_refused(npy("{'descr': 3, }", ""), "'\"' is missing");
  expect_refused(npy("{'fortran_order': 0, }", ""), "neither True nor False");
  expect_refused(npy("{'descr' '<f4'}", ""), "':' is missing");
  expect_refused(npy("{'descr': '<f4' 'fortran_order': False}", ""), "'}' is missing");
  expect_refused(npy(npy_dict("<f4", "(1, 1)") + "x", "1234"), "text follows");
}

std::vector<std::int64_t> integers(const std::string& bytes) {
  return parse_npy_integers(bytes_in(bytes), "ids.npy");
}

void expect_no_integers(const std::string& bytes, const std::string& reason, const std::string& fix = "") {
  const Error error = test::error_of([&] { integers(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.problem(), HasSubstr("ids.npy"));
  EXPECT_THAT(error.reason(), HasSubstr(reason));
  EXPECT_THAT(error.fix(), HasSubstr(fix));
}

/// A vector of the type's least, greatest and small values comes back as it was, in every version.
template <class T>
void expect_integers(const std::string& code) {
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr auto kMost = static_cast<T>(
      std::min<std::uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<std::int64_t>::max()));
  const std::vector<T> values = {kLeast, T{0}, T{1}, T{100}, kMost, static_cast<T>(kMost - 1)};
  const std::vector<std::int64_t> expected(values.begin(), values.end());
  for (const char* order : {"<", "", "=", "|"})
    for (const int major : {1, 2, 3})
      EXPECT_EQ(integers(npy(npy_dict(order + code, "(6,)"), test::raw(values), major)), expected)
          << order << code;
  const std::string swapped = npy(npy_dict(">" + code, "(6,)"), test::raw(values));
  if (sizeof(T) == 1)
    EXPECT_EQ(integers(swapped), expected);  // a byte has no order
  else
    expect_no_integers(swapped, "swapped byte order ('>" + code + "')", ".astype('<i8')");
}

TEST(NpyIntegers, EveryTypeInEveryVersion) {
  expect_integers<std::int8_t>("i1");
  expect_integers<std::int16_t>("i2");
  expect_integers<std::int32_t>("i4");
  expect_integers<std::int64_t>("i8");
  expect_integers<std::uint8_t>("u1");
  expect_integers<std::uint16_t>("u2");
  expect_integers<std::uint32_t>("u4");
  expect_integers<std::uint64_t>("u8");
}

TEST(NpyIntegers, OfNoRowsAndOfMoreBytesThanAreMeant) {
  EXPECT_TRUE(integers(npy(npy_dict("<i8", "(0,)"))).empty());
  EXPECT_EQ(integers(npy(npy_dict("<i2", "(1,)"), std::string("\x05\x01\x09", 3))),
            std::vector<std::int64_t>{261});
  EXPECT_EQ(integers(npy(npy_dict("<i2", "(1,)", "True"), std::string("\x05\x01", 2))),
            std::vector<std::int64_t>{261});
}

TEST(NpyIntegers, TooLargeForInt64) {
  const std::vector<std::uint64_t> values = {1, std::uint64_t{1} << 63};
  expect_no_integers(npy(npy_dict("<u8", "(2,)"), test::raw(values)), "9223372036854775808");
}

TEST(NpyIntegers, CutShortAnywhereIsRefused) {
  const std::string whole = npy(npy_dict("<i4", "(3,)"), std::string(12, '\x01'));
  EXPECT_EQ(integers(whole), std::vector<std::int64_t>(3, 0x01010101));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = test::error_of([&] { integers(whole.substr(0, size)); });
    EXPECT_EQ(error.kind(), ErrorKind::input) << size;
    EXPECT_THAT(error.reason(), HasSubstr(size == 0 ? "not a .npy" : "cut short")) << size;
  }
}

TEST(NpyIntegers, ShapesAndTypesThatAreNotTaken) {
  const std::string data(64, '\0');
  expect_no_integers(npy(npy_dict("<i8", "()"), data), "0-D array", "one number a row");
  expect_no_integers(npy(npy_dict("<i8", "(2, 4)"), data), "2-D array of shape (2, 4)", "one number a row");
  expect_no_integers(npy(npy_dict("<i8", "(8, 1)"), data), "2-D array");
  for (const char* descr : {"<f8", "<f4", "|b1", "<c8", "|O", "<U3", "<i16", "i", "", ">", "<M8[ns]", "<V8"})
    expect_no_integers(npy(npy_dict(descr, "(2,)"), data), "not whole numbers", ".astype('<i8')");
  expect_no_integers(npy("{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (2,), }", data),
                     "structured");
}

TEST(NpyIntegers, HostileHeaders) {
  const std::string data(64, '\0');
  expect_no_integers(npy(npy_dict("<i8", "(9,)"), data), "cut short");
  for (const char* shape : {"(9223372036854775807,)", "(2305843009213693952,)", "(1152921504606846977,)"})
    expect_no_integers(npy(npy_dict("<i8", shape), data), "cut short");
  expect_no_integers(npy(npy_dict("<i8", "(9223372036854775808,)"), data), "larger than any memory");
  expect_no_integers(npy(npy_dict("<i8", "(-1,)"), data), "negative dimension");
  expect_no_integers(npy(npy_dict("<i8", "(8)"), data), "not a tuple");
  expect_no_integers(npy(npy_dict("<i8", "(8,)"), data, 1, 65535), "claims 65535 bytes");
  expect_no_integers(npy(npy_dict("<i8", "(8,)"), data, 9), "version is 9.0");
  expect_no_integers("PK\x03\x04", "not a .npy file");
}

TEST(Npy, WritesWhatNumpyWrites) {
  // numpy.save(file, numpy.arange(3)) and numpy.zeros((70000, 2), 'i4'), numpy 2.4
  const std::string order = npy_header("<i8", std::array{std::uint64_t{3}});
  EXPECT_EQ(order, std::string("\x93NUMPY\x01\x00v\x00", 10) +
                       "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }" + std::string(60, ' ') +
                       "\n");
  EXPECT_EQ(order.size(), 128u);
  const std::string edges = npy_header("<i4", std::array{std::uint64_t{70000}, std::uint64_t{2}});
  EXPECT_THAT(edges, HasSubstr("'shape': (70000, 2), }"));
  EXPECT_EQ(edges.size() % 64, 0u);
}

}  // namespace
}  // namespace gcbs
