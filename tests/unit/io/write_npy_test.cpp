#include <array>
#include <cstring>
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
