// Records in another sequence: every byte as it was, line ends kept, the output whole or absent.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gcbs/io.h"
#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::bytes_of_file;
using test::error_of;
using test::Folder;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string reordered(const std::string& text, const std::string& name,
                      const std::vector<std::uint32_t>& order) {
  const Folder folder;
  const FileRecords records = open_records(folder.write(name, text), order.size());
  reorder_records(records, order, folder / "out");
  return bytes_of_file(folder / "out");
}

TEST(ReorderRecords, KeepsEveryByte) {
  EXPECT_EQ(reordered("a\nbb\nccc\n", "x.jsonl", {2, 0, 1}), "ccc\na\nbb\n");
  EXPECT_EQ(reordered("a\r\nbb\nccc\r\n", "x.txt", {2, 1, 0}), "ccc\r\nbb\na\r\n");
  EXPECT_EQ(reordered("\n\xff\xfe\n \t\n", "x.txt", {1, 2, 0}), "\xff\xfe\n \t\n\n");
}

TEST(ReorderRecords, HeaderAndByteOrderMarkStayFirst) {
  EXPECT_EQ(reordered("q\td\n1\ta\n2\tb\n", "x.tsv", {1, 0}), "q\td\n2\tb\n1\ta\n");
  EXPECT_EQ(reordered("\xef\xbb\xbfq,d\n1,\"a\nb\"\n2,c\n", "x.csv", {1, 0}),
            "\xef\xbb\xbfq,d\n2,c\n1,\"a\nb\"\n");
  EXPECT_EQ(reordered("\xef\xbb\xbf"
                      "1\n2\n",
                      "x.jsonl", {1, 0}),
            "\xef\xbb\xbf"
            "2\n1\n");
}

TEST(ReorderRecords, ALastRecordWithoutALineEndIsGivenThatOfTheOthers) {
  EXPECT_EQ(reordered("a\nb", "x.txt", {1, 0}), "b\na\n");
  EXPECT_EQ(reordered("a\nb", "x.txt", {0, 1}), "a\nb\n");
  EXPECT_EQ(reordered("a\r\nb", "x.txt", {1, 0}), "b\r\na\r\n");
  EXPECT_EQ(reordered("a\r\nb\r", "x.txt", {1, 0}), "b\r\na\r\n");
  EXPECT_EQ(reordered("q\r\na", "x.csv", {0}), "q\r\na\r\n");
  EXPECT_EQ(reordered("1,a\r\n2,\"b\n\"", "x.csv", {1, 0}), "2,\"b\n\"\r\n1,a\r\n");
  EXPECT_EQ(reordered("a", "x.txt", {0}), "a\n");
}

TEST(ReorderRecords, BlankLinesAtTheEndGo) {
  EXPECT_EQ(reordered("a\nb\n\n\n", "x.jsonl", {1, 0}), "b\na\n");
  EXPECT_EQ(reordered("a\nb\n\n\r", "x.jsonl", {1, 0}), "b\na\n");
}

TEST(ReorderRecords, RecordsLargerThanAnyBufferAndFilesOfMany) {
  std::mt19937 random(3);
  std::vector<std::string> lines;
  for (int i = 0; i < 4000; ++i)
    lines.push_back(std::string(random() % 5000, static_cast<char>('a' + i % 26)) + "\n");
  lines[77] = std::string((std::size_t{9} << 20) + 123, 'x') + "\n";
  std::vector<std::uint32_t> order(lines.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::string text, expected;
  for (const std::string& line : lines) text += line;
  for (const std::uint32_t row : order) expected += lines[row];
  EXPECT_TRUE(reordered(text, "x.jsonl", order) == expected);
}

TEST(ReorderRecords, WaitsForTheOthers) {
  const Folder folder;
  const FileRecords records = open_records(folder.write("in.txt", "a\nb\n"), 2);
  OutputFiles files;
  reorder_records(records, std::vector<std::uint32_t>{1, 0}, folder / "out.txt", &files);
  EXPECT_FALSE(test::fs::exists(folder / "out.txt"));
  files.commit();
  EXPECT_EQ(bytes_of_file(folder / "out.txt"), "b\na\n");
}

TEST(ReorderRecords, FailureLeavesNothing) {
  const Folder folder;
  const FileRecords records = open_records(folder.write("in.txt", "a\nb\n"), 2);
  const Error unknown = error_of([&] {
    reorder_records(records, std::vector<std::uint32_t>{1, 2}, folder / "out.txt");
  });
  EXPECT_EQ(unknown.kind(), ErrorKind::usage);
  EXPECT_THAT(unknown.problem(), HasSubstr("row 2"));
  const auto order = std::vector<std::uint32_t>{1, 0};
  EXPECT_EQ(error_of([&] { reorder_records(records, order, folder / "no/out.txt"); }).kind(),
            ErrorKind::resource);
  EXPECT_THAT(folder.names(), UnorderedElementsAre("in.txt"));
}

TEST(OpenRecords, FilesThatAreNone) {
  const Folder folder;
  for (const std::string& path : {folder / "missing.jsonl", folder.path(), folder.write("empty.jsonl", "")})
    EXPECT_EQ(error_of([&] { open_records(path, 2); }).kind(), ErrorKind::input) << path;
}

std::string name_of_shrunk;

void leave_when_the_file_is_named(int, siginfo_t* info, void*) {
  const char* name = mapped_file_at(info->si_addr);
  discard_unfinished_writes();
  ::_exit(name != nullptr && name == name_of_shrunk ? 0 : 1);
}

TEST(ReorderRecords, AFileThatShrinksIsBlamedForIt) {
  const Folder folder;
  name_of_shrunk = folder.write("in.txt", std::string(std::size_t{5} << 20, 'a') + "\nb\n");
  EXPECT_TRUE(test::holds_in_child([&] {
    struct sigaction action {};
    action.sa_sigaction = leave_when_the_file_is_named;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
    const FileRecords records = open_records(name_of_shrunk, 2);
    if (::truncate(name_of_shrunk.c_str(), 10) != 0) return false;
    reorder_records(records, std::vector<std::uint32_t>{1, 0}, folder / "out.txt");
    return false;  // not reached
  }));
  EXPECT_THAT(folder.names(), UnorderedElementsAre("in.txt"));
}

class Watcher final : public Observer {
 public:
  void advance(double done, double total) override { done_ = done, total_ = total, ++calls; }
  bool stop_requested() noexcept override { return stop; }
  double done_ = 0, total_ = 0;
  int calls = 0;
  bool stop = false;
};

TEST(ReorderRecords, TellsHowFarItIsAndStopsWhenAsked) {
  const Folder folder;
  std::string text;
  while (text.size() < std::size_t{20} << 20) text += std::string(1023, 'a') + "\n";
  const std::size_t rows = text.size() / 1024;
  const std::string path = folder.write("in.txt", text);
  std::vector<std::uint32_t> order(rows);
  for (std::uint32_t i = 0; i < rows; ++i) order[i] = static_cast<std::uint32_t>(rows) - 1 - i;
  Watcher watcher;
  const FileRecords records = open_records(path, rows, &watcher);
  EXPECT_GE(watcher.calls, 4);
  watcher.calls = 0;
  reorder_records(records, order, folder / "out.txt", nullptr, &watcher);
  EXPECT_GE(watcher.calls, 5);
  EXPECT_EQ(watcher.done_, static_cast<double>(text.size()));
  EXPECT_EQ(watcher.total_, watcher.done_);
  watcher.stop = true;
  EXPECT_THROW(reorder_records(records, order, folder / "stopped.txt", nullptr, &watcher), Error);
  EXPECT_THAT(folder.names(), UnorderedElementsAre("in.txt", "out.txt"));
}

}  // namespace
}  // namespace gcbs
