// Files on disk: which format, which tensor, and everything that is no file.
#include <sys/stat.h>

#include <cstring>
#include <string>
#include <vector>

#include "gcbs/io.h"
#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::Folder;
using test::npy;
using test::npy_dict;
using testing::HasSubstr;

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};

std::string matrix_npy() { return npy(npy_dict("<f4", "(2, 3)"), test::raw(kValues)); }

std::string matrix_safetensors(const std::string& name = "emb") {
  return test::safetensors("{\"" + name + R"(":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
                           test::raw(kValues));
}

void expect_values(const FileMatrix& matrix) {
  EXPECT_EQ(matrix.view.rows, 2u);
  EXPECT_EQ(matrix.view.cols, 3u);
  EXPECT_EQ(matrix.view.row_bytes, 12u);
  EXPECT_EQ(std::memcmp(matrix.view.data, kValues.data(), 24), 0);
}

void expect_refused(const std::string& path, const std::string& reason, const std::string& fix = "") {
  const Error error = test::error_of([&] { open_matrix(path); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.problem(), HasSubstr(path.substr(0, path.find(".safetensors:"))));
  EXPECT_THAT(error.reason(), HasSubstr(reason));
  EXPECT_THAT(error.fix(), HasSubstr(fix));
}

TEST(OpenMatrix, ReadsNpy) {
  const Folder folder;
  const FileMatrix matrix = open_matrix(folder.write("x.npy", matrix_npy()));
  expect_values(matrix);
  EXPECT_EQ(matrix.view.name, folder / "x.npy");
}

TEST(OpenMatrix, ReadsSafetensorsWithAndWithoutTheName) {
  const Folder folder;
  const std::string path = folder.write("x.safetensors", matrix_safetensors());
  expect_values(open_matrix(path));
  const FileMatrix named = open_matrix(path + ":emb");
  expect_values(named);
  EXPECT_EQ(named.view.name, path + ":emb");
  expect_refused(path + ":txt", "no tensor 'txt'", "emb (2, 3)");
  expect_refused(path + ":", "no tensor ''");
}

TEST(OpenMatrix, ColonsInNamesOfTensorsAndFilesAreTheirOwn) {
  const Folder folder;
  expect_values(open_matrix(folder.write("x.safetensors", matrix_safetensors("a:b/c")) + ":a:b/c"));
  expect_values(open_matrix(folder.write("y.safetensors:emb", matrix_npy())));
}

TEST(OpenMatrix, TheBytesDecideTheFormat) {
  const Folder folder;
  expect_values(open_matrix(folder.write("x.bin", matrix_npy())));
  expect_values(open_matrix(folder.write("y.bin", matrix_safetensors())));
  expect_values(open_matrix(folder.write("x.safetensors", matrix_npy())));
  expect_values(open_matrix(folder.write("y.npy", matrix_safetensors())));
  expect_refused(folder / "x.safetensors" + ":emb", "one array without a name", "leave out ':emb'");
}

TEST(OpenMatrix, TheMatrixKeepsTheFileMapped) {
  const Folder folder;
  FileMatrix kept;
  kept = open_matrix(folder.write("x.npy", matrix_npy()));
  ::unlink((folder / "x.npy").c_str());
  expect_values(kept);
  EXPECT_TRUE(mapped_file_contains(kept.view.data));
}

TEST(OpenMatrix, WhatIsNoMatrixFile) {
  const Folder folder;
  expect_refused(folder.write("x.npy", "hello, world"), "not a .npy file");
  expect_refused(folder.write("x.safetensors", "hello, world"), "not a .safetensors file");
  expect_refused(folder.write("x.csv", "1,2,3\n4,5,6\n"), "neither", ".npy (numpy.save) or .safetensors");
  expect_refused(folder.write("x.npz", "PK\x03\x04 and more"), "zip archive");
  expect_refused(folder.write("x.pkl", "\x80\x04 and more"), "pickle");
  expect_refused(folder.write("x.h5", "\x89HDF\r\n\x1a\n"), "HDF5");
  expect_refused(folder.write("cut.npy", matrix_npy().substr(0, 40)), "cut short");
  expect_refused(folder.write("cut.safetensors", matrix_safetensors().substr(0, 40)), "cut short");
  expect_refused(folder.write("stub.npy", "\x93NU"), "cut short");
}

TEST(OpenMatrix, WhatIsNoRegularFile) {
  const Folder folder;
  expect_refused(folder / "missing.npy", "no such file");
  expect_refused(folder / "missing.safetensors" + ":emb", "no such file");
  expect_refused(folder.write("file", "x") + "/x.npy", "no such file");
  expect_refused(folder.write("empty.npy", ""), "empty");
  expect_refused(folder.path(), "directory");
  ASSERT_EQ(::mkfifo((folder / "pipe.npy").c_str(), 0600), 0);
  expect_refused(folder / "pipe.npy", "pipe");
  expect_refused("/dev/zero", "device");
  expect_refused(folder / std::string(300, 'a'), "too long");
  ASSERT_EQ(::symlink("loop.npy", (folder / "loop.npy").c_str()), 0);
  expect_refused(folder / "loop.npy", "symbolic links");
  for (const std::string& path : {std::string(), std::string("a\0b", 3)})
    EXPECT_THAT(test::error_of([&] { open_matrix(path); }).what(), HasSubstr("not a path"));
}

TEST(OpenMatrix, AnUnreadableFile) {
  const Folder folder;
  const std::string path = folder.write("x.npy", matrix_npy());
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_TRUE(test::holds_in_child([&] {
    return test::become_nobody() &&
           test::throws(ErrorKind::input, "may not read", [&] { open_matrix(path); });
  }));
}

}  // namespace
}  // namespace gcbs
