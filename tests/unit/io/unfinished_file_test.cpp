// All or nothing: what failing, signals, limits and full disks leave behind.
#include "io/unfinished_file.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "gcbs/io.h"
#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::bytes_in;
using test::bytes_of_file;
using test::Folder;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(UnfinishedFile, AppearsOnlyWhenCommitted) {
  const Folder folder;
  {
    UnfinishedFile file(folder / "out", 6);
    file.write(bytes_in("abc"));
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
    file.write(bytes_in("def"));
    file.commit();
    EXPECT_EQ(bytes_of_file(folder / "out"), "abcdef");
  }
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(UnfinishedFile, LeavesWhatWasThereWhenDropped) {
  const Folder folder;
  folder.write("out", "old");
  {
    UnfinishedFile file(folder / "out", 3);
    file.write(bytes_in("new"));
    EXPECT_EQ(folder.names().size(), 2u);
  }
  EXPECT_THAT(folder.names(), ElementsAre("out"));
  EXPECT_EQ(bytes_of_file(folder / "out"), "old");
}

TEST(UnfinishedFile, ReplacesAFileAndKeepsALink) {
  const Folder folder;
  folder.write("real", "old");
  ASSERT_EQ(::symlink("real", (folder / "link").c_str()), 0);
  UnfinishedFile file(folder / "link", 3);
  file.write(bytes_in("new"));
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(bytes_of_file(folder / "real"), "new");
}

TEST(UnfinishedFile, TakesTheLongestNameAFolderAllows) {
  const Folder folder;
  const std::string name(255, 'n');
  UnfinishedFile(folder / name, 0).commit();
  EXPECT_THAT(folder.names(), ElementsAre(name));
}

TEST(UnfinishedFile, DiscardRemovesEveryFileUnderWay) {
  const Folder folder;
  std::vector<std::unique_ptr<UnfinishedFile>> files;
  for (int i = 0; i < 10; ++i)
    files.push_back(std::make_unique<UnfinishedFile>(folder / std::to_string(i), 1));
  EXPECT_EQ(folder.names().size(), 10u);
  discard_unfinished_writes();
  EXPECT_THAT(folder.names(), IsEmpty());
  // What was discarded cannot be committed, and says so.
  EXPECT_EQ(test::error_of([&] { files[0]->commit(); }).kind(), ErrorKind::resource);
}

TEST(UnfinishedFile, DiscardLeavesFinishedFilesAndTheParentsAlone) {
  const Folder folder;
  UnfinishedFile done(folder / "done", 0);
  done.commit();
  const UnfinishedFile under_way(folder / "under_way", 0);
  EXPECT_TRUE(test::holds_in_child([] { return discard_unfinished_writes(), true; }));
  EXPECT_EQ(folder.names().size(), 2u);
  discard_unfinished_writes();
  EXPECT_THAT(folder.names(), ElementsAre("done"));
}

TEST(UnfinishedFile, MoreFilesThanTheTableHoldsStillWork) {
  const Folder folder;
  {
    std::vector<std::unique_ptr<UnfinishedFile>> files;
    for (int i = 0; i < 100; ++i)
      files.push_back(std::make_unique<UnfinishedFile>(folder / std::to_string(i), 1));
    files.back()->commit();
  }
  EXPECT_THAT(folder.names(), ElementsAre("99"));
  const UnfinishedFile file(folder / "next", 1);
  EXPECT_EQ(folder.names().size(), 2u);
  discard_unfinished_writes();
  EXPECT_THAT(folder.names(), ElementsAre("99"));
}

void leave_no_trace(int) {
  discard_unfinished_writes();
  ::_exit(0);
}

TEST(UnfinishedFile, ASignalLeavesNothingBehind) {
  const Folder folder;
  EXPECT_TRUE(test::holds_in_child([&] {
    ::signal(SIGTERM, leave_no_trace);
    UnfinishedFile file(folder / "out", 3);
    file.write(bytes_in("abc"));
    return ::raise(SIGTERM) != 0;  // not reached
  }));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(OutputFiles, AppearTogether) {
  const Folder folder;
  folder.write("old", "old");
  OutputFiles files;
  write_npy(folder / "new", std::vector<std::int64_t>{1, 2}, 0, &files);
  write_npy(folder / "old", std::vector<float>{3}, 0, &files);
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_EQ(bytes_of_file(folder / "old"), "old");
  files.commit();
  EXPECT_THAT(folder.names(), UnorderedElementsAre("new", "old"));
  EXPECT_EQ(bytes_of_file(folder / "new").size(), 128u + 16);
  EXPECT_EQ(bytes_of_file(folder / "old").size(), 128u + 4);
}

TEST(OutputFiles, NoneStaysWithoutCommit) {
  const Folder folder;
  folder.write("old", "old");
  {
    OutputFiles files;
    write_npy(folder / "new", std::vector<std::int64_t>{1, 2}, 0, &files);
    write_npy_edges(folder / "old", std::vector<std::uint64_t>{0, 1}, std::vector<std::uint32_t>{0}, &files);
    EXPECT_EQ(folder.names().size(), 3u);
  }
  EXPECT_THAT(folder.names(), ElementsAre("old"));
  EXPECT_EQ(bytes_of_file(folder / "old"), "old");
}

TEST(OutputFiles, OneThatCannotBePlacedTakesTheOthersAlong) {
  const Folder folder;
  {
    OutputFiles files;
    for (const char* name : {"a", "b", "c"})
      write_npy(folder / name, std::vector<std::int64_t>{1}, 0, &files);
    ASSERT_TRUE(fs::create_directory(folder / "b"));  // a rename does not replace a folder by a file
    EXPECT_EQ(test::error_of([&] { files.commit(); }).kind(), ErrorKind::resource);
  }
  EXPECT_THAT(folder.names(), ElementsAre("b"));
  EXPECT_TRUE(fs::is_directory(folder / "b"));
}

TEST(OutputFiles, ASignalRemovesThoseThatWait) {
  const Folder folder;
  EXPECT_TRUE(test::holds_in_child([&] {
    ::signal(SIGTERM, leave_no_trace);
    OutputFiles files;
    for (int i = 0; i < 20; ++i)
      write_npy(folder / std::to_string(i), std::vector<std::int64_t>{1}, 0, &files);
    return ::raise(SIGTERM) != 0;  // not reached
  }));
  EXPECT_THAT(folder.names(), IsEmpty());
}

void expect_refused(const std::string& path, const std::string& reason) {
  for (const bool probe : {true, false}) {
    const Error error = test::error_of([&] {
      if (probe)
        check_writable(path);
      else
        UnfinishedFile(path, 10);
    });
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_THAT(error.problem(), HasSubstr(path));
    EXPECT_THAT(error.reason(), HasSubstr(reason));
  }
}

TEST(CheckWritable, SaysNoBeforeTheWork) {
  const Folder folder;
  expect_refused(folder / "missing/out.npy", "no folder " + (folder / "missing"));
  expect_refused(folder.path(), "directory");
  expect_refused(folder / "missing/", "directory");
  expect_refused(folder.write("file", "x") + "/out.npy", "no folder");
  expect_refused(folder / std::string(256, 'n'), "too long");
  expect_refused("/dev/null", "device");
  expect_refused("", "not a path");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_refused(folder / "pipe", "pipe");
  EXPECT_THAT(folder.names(), UnorderedElementsAre("file", "pipe"));
}

TEST(CheckWritable, LeavesNothingBehind) {
  const Folder folder;
  folder.write("there", "old");
  EXPECT_NO_THROW(check_writable(folder / "out.npy"));
  EXPECT_NO_THROW(check_writable(folder / "there"));
  EXPECT_THAT(folder.names(), ElementsAre("there"));
  EXPECT_EQ(bytes_of_file(folder / "there"), "old");
}

TEST(CheckWritable, TakesAPathWithoutAFolder) {
  const Folder folder;
  EXPECT_TRUE(test::holds_in_child([&] {
    if (::chdir(folder.path().c_str()) != 0) return false;
    check_writable("out.npy");
    UnfinishedFile("out.npy", 0).commit();
    return true;
  }));
  EXPECT_THAT(folder.names(), ElementsAre("out.npy"));
}

TEST(CheckWritable, RefusesFoldersAndFilesThatAreReadOnly) {
  const Folder folder;
  ASSERT_EQ(::chmod(folder.write("kept", "old").c_str(), 0444), 0);
  EXPECT_TRUE(test::holds_in_child([&] {
    return test::become_nobody() &&
           test::throws(ErrorKind::resource, "read-only", [&] { check_writable(folder / "kept"); });
  }));
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  EXPECT_TRUE(test::holds_in_child([&] {
    return test::become_nobody() &&
           test::throws(ErrorKind::resource, "may not write", [&] { check_writable(folder / "new"); });
  }));
}

TEST(UnfinishedFile, AFileSizeLimitIsSeenBeforeItKills) {
  const Folder folder;
  EXPECT_TRUE(test::holds_in_child([&] {
    const struct rlimit limit { 1000, 1000 };
    ::setrlimit(RLIMIT_FSIZE, &limit);  // SIGXFSZ stays deadly
    return test::throws(ErrorKind::resource, "5000 bytes are needed",
                        [&] { UnfinishedFile(folder / "out", 5000); });
  }));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(UnfinishedFile, AFileSizeLimitMetOnTheWayIsAnError) {
  const Folder folder;
  EXPECT_TRUE(test::holds_in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    UnfinishedFile file(folder / "out", 5000);
    const struct rlimit limit { 1000, 1000 };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return test::throws(ErrorKind::resource, "ulimit -f",
                        [&] { file.write(bytes_in(std::string(5000, 'x'))); }) &&
           (discard_unfinished_writes(), true);
  }));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(UnfinishedFile, AFullDiskSaysWhatIsNeeded) {
  if (::geteuid() != 0) GTEST_SKIP() << "a small file system is mounted by root only";
  const Folder folder;
  constexpr int kCannotMount = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    // In a mount namespace of the child's own: it ends with the child.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0)
      ::_exit(kCannotMount);
    const bool refused = test::throws(ErrorKind::resource, "the disk is full: 800128 bytes are needed", [&] {
      write_npy(folder / "out.npy", std::vector<std::int64_t>(100'000, 7));
    });
    ::_exit(refused && folder.names().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotMount)
    GTEST_SKIP() << "tmpfs cannot be mounted here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace gcbs
