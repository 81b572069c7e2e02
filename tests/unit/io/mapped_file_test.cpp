#include "io/mapped_file.h"

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::Folder;

TEST(MappedFile, HoldsTheBytesAndIsKnownByItsAddresses) {
  const Folder folder;
  const std::string path = folder.write("x", std::string(10'000, 'a') + "z");
  auto file = MappedFile::open(path);
  EXPECT_EQ(file->bytes().size(), 10'001u);
  EXPECT_EQ(file->bytes().back(), std::byte{'z'});
  const std::byte* begin = file->bytes().data();
  EXPECT_STREQ(mapped_file_at(begin), path.c_str());
  EXPECT_STREQ(mapped_file_at(begin + 10'000), path.c_str());
  EXPECT_TRUE(mapped_file_contains(begin + 5000));
  EXPECT_FALSE(mapped_file_contains(begin + 10'001));
  EXPECT_FALSE(mapped_file_contains(begin - 1));
  EXPECT_FALSE(mapped_file_contains(nullptr));
  EXPECT_FALSE(mapped_file_contains(&begin));
  file.reset();
  EXPECT_FALSE(mapped_file_contains(begin));
}

TEST(MappedFile, MoreMapsThanTheTableHoldsStillWork) {
  const Folder folder;
  const std::string path = folder.write("x", "abc");
  for (int round = 0; round < 2; ++round) {
    std::vector<std::shared_ptr<const MappedFile>> files;
    for (int i = 0; i < 100; ++i) files.push_back(MappedFile::open(path));
    int known = 0;
    for (const auto& file : files) known += mapped_file_contains(file->bytes().data());
    EXPECT_EQ(known, 64);
    EXPECT_EQ(files.back()->bytes()[2], std::byte{'c'});
  }
}

TEST(MappedFile, TheTableIsSharedByThreads) {
  const Folder folder;
  const std::string path = folder.write("x", "abc");
  std::vector<std::jthread> crew;
  for (int t = 0; t < 4; ++t)
    crew.emplace_back([&path] {
      for (int i = 0; i < 200; ++i) {
        const auto file = MappedFile::open(path);
        EXPECT_STREQ(mapped_file_at(file->bytes().data()), path.c_str());
      }
    });
}

std::shared_ptr<const MappedFile> shrinking;

void leave_when_the_file_is_named(int, siginfo_t* info, void*) {
  const char* name = mapped_file_at(info->si_addr);
  ::_exit(name == shrinking->path().c_str() ? 0 : 1);
}

TEST(MappedFile, AHandlerOfSigbusLearnsWhichFileShrank) {
  const Folder folder;
  const std::string path = folder.write("x", std::string(100'000, 'a'));
  EXPECT_TRUE(test::holds_in_child([&] {
    struct sigaction action {};
    action.sa_sigaction = leave_when_the_file_is_named;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
    shrinking = MappedFile::open(path);
    if (::truncate(path.c_str(), 10) != 0) return false;
    const volatile std::byte gone = shrinking->bytes()[99'999];
    return gone == std::byte{1};  // not reached
  }));
}

}  // namespace
}  // namespace gcbs
