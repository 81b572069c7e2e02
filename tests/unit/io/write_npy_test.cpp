#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gcbs/io.h"
#include "io/npy.h"
#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::bytes_of_file;
using test::Folder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(WriteNpy, AnOrderIsWhatNumpySaves) {
  const Folder folder;
  for (const std::size_t size : {0u, 1u, 3u, 1000u, 300'000u}) {
    std::vector<std::int64_t> order(size);
    std::iota(order.rbegin(), order.rend(), -1);
    write_npy(folder / "order.npy", order);
    const std::string shape = "'shape': (" + std::to_string(size) + ",), }";
    const std::string bytes = bytes_of_file(folder / "order.npy");
    ASSERT_EQ(bytes.size(), 128 + 8 * size);
    EXPECT_THAT(bytes.substr(0, 128), HasSubstr("{'descr': '<i8', 'fortran_order': False, " + shape));
    EXPECT_EQ(bytes[127], '\n');
    EXPECT_EQ(bytes.substr(128), test::raw(order));
  }
  EXPECT_THAT(folder.names(), ElementsAre("order.npy"));
}

/// What numpy.save (2.4) writes before the data of a matrix.
std::string numpys_header(const std::string& descr, const std::string& shape) {
  const std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  return std::string("\x93NUMPY\x01\x00v\x00", 10) + text + std::string(117 - text.size(), ' ') + "\n";
}

TEST(WriteNpy, MatricesAreWhatNumpySaves) {
  const Folder folder;
  const auto written = [&](const auto& values, std::size_t columns) {
    write_npy(folder / "matrix.npy", std::span(values), columns);
    return bytes_of_file(folder / "matrix.npy");
  };
  // numpy.save(file, numpy.array([[1, -2, 3], [4, 5, -6]])), to the byte
  const std::vector<std::int64_t> whole = {1, -2, 3, 4, 5, -6};
  EXPECT_EQ(written(whole, 3),
            std::string("\x93NUMPY\x01\x00v\x00", 10) +
                "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }" + std::string(58, ' ') + "\n" +
                std::string("\x01\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff\x03\0\0\0\0\0\0\0"
                            "\x04\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\xfa\xff\xff\xff\xff\xff\xff\xff",
                            48));
  // numpy.array([[1, -2], [0.5, 1e30], [3, 4]], 'f4')
  const std::vector<float> single = {1, -2, 0.5f, 1e30f, 3, 4};
  EXPECT_EQ(written(single, 2), numpys_header("<f4", "(3, 2)") +
                                    std::string("\0\0\x80?\0\0\0\xc0\0\0\0?\xca\xf2Iq\0\0@@\0\0\x80@", 24));
  const std::vector<double> real = {0.1, -1e300, 0, 2};
  EXPECT_EQ(written(real, 1), numpys_header("<f8", "(4, 1)") + test::raw(real));
  EXPECT_EQ(written(real, 4), numpys_header("<f8", "(1, 4)") + test::raw(real));
  EXPECT_EQ(written(real, 0), numpys_header("<f8", "(4,)") + test::raw(real));
  EXPECT_EQ(written(single, 0), numpys_header("<f4", "(6,)") + test::raw(single));
  EXPECT_EQ(written(std::vector<float>(), 3), numpys_header("<f4", "(0, 3)"));
  const std::vector<float> many(3000, 0.25f);
  EXPECT_EQ(written(many, 3), numpys_header("<f4", "(1000, 3)") + test::raw(many));
  EXPECT_THAT(folder.names(), ElementsAre("matrix.npy"));
}

TEST(WriteNpy, IntegersMakeTheRoundTrip) {
  const Folder folder;
  const std::vector<std::int64_t> values = {5, -1, std::numeric_limits<std::int64_t>::max(),
                                            std::numeric_limits<std::int64_t>::min(), 0};
  write_npy(folder / "ids.npy", values);
  EXPECT_EQ(read_integers(folder / "ids.npy"), values);
  EXPECT_EQ(test::error_of([&] { read_integers(folder / "none.npy"); }).kind(), ErrorKind::input);
  EXPECT_THAT(test::error_of([&] { read_integers(folder.write("a.npz", "PK\x03\x04")); }).reason(),
              HasSubstr("zip archive"));
  write_npy(folder / "matrix.npy", values, 1);
  EXPECT_THAT(test::error_of([&] { read_integers(folder / "matrix.npy"); }).reason(), HasSubstr("2-D array"));
}

TEST(WriteNpy, EdgesAreRowColumnPairs) {
  const Folder folder;
  const std::vector<std::uint64_t> offsets = {0, 2, 2, 3};
  const std::vector<std::uint32_t> columns = {1, 2, 0};
  write_npy_edges(folder / "edges.npy", offsets, columns);
  const std::string bytes = bytes_of_file(folder / "edges.npy");
  EXPECT_THAT(bytes.substr(0, 128), HasSubstr("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }"));
  EXPECT_EQ(bytes.substr(128), test::raw(std::vector<std::int32_t>{0, 1, 0, 2, 2, 0}));
}

TEST(WriteNpy, EdgesBeyondOneBuffer) {
  const Folder folder;
  constexpr std::uint32_t kRows = 700, kEach = 401;  // 280,700 edges, the buffer holds 131,072
  std::vector<std::uint64_t> offsets(kRows + 1);
  std::vector<std::uint32_t> columns(kRows * kEach);
  std::vector<std::int32_t> expected;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    offsets[row + 1] = offsets[row] + kEach;
    for (std::uint32_t e = 0; e < kEach; ++e) {
      columns[row * kEach + e] = e;
      expected.insert(expected.end(), {static_cast<std::int32_t>(row), static_cast<std::int32_t>(e)});
    }
  }
  write_npy_edges(folder / "edges.npy", offsets, columns);
  EXPECT_EQ(bytes_of_file(folder / "edges.npy").substr(128), test::raw(expected));
}

TEST(WriteNpy, AGraphWithoutEdges) {
  const Folder folder;
  write_npy_edges(folder / "edges.npy", std::vector<std::uint64_t>(5), {});
  EXPECT_EQ(bytes_of_file(folder / "edges.npy").size(), 128u);
}

TEST(WriteNpy, OffsetsThatDoNotFitTheColumnsAreRefused) {
  const Folder folder;
  const std::vector<std::uint32_t> columns = {1, 2, 0};
  for (const std::vector<std::uint64_t>& offsets :
       {std::vector<std::uint64_t>{}, {0, 2}, {1, 3}, {0, 4}, {0, 100, 3}, {0, 3, 2, 3}})
    try {
      write_npy_edges(folder / "edges.npy", offsets, columns);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(WriteNpy, FloatMatricesMakeTheRoundTrip) {
  // The header that is written is one that is read.
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Folder folder;
  const std::string header = npy_header("<f4", std::array{std::uint64_t{2}, std::uint64_t{3}});
  const FileMatrix matrix = open_matrix(folder.write("x.npy", header + test::raw(values)));
  EXPECT_EQ(matrix.view.rows, 2u);
  EXPECT_EQ(std::memcmp(matrix.view.data, values.data(), 24), 0);
}

TEST(WriteNpy, FailureLeavesNothing) {
  const Folder folder;
  const std::vector<std::int64_t> order = {0, 1};
  EXPECT_EQ(test::error_of([&] { write_npy(folder / "no/order.npy", order); }).kind(), ErrorKind::resource);
  EXPECT_EQ(test::error_of([&] { write_npy(folder.path(), order); }).kind(), ErrorKind::resource);
  EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace gcbs
