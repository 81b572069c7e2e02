// Where records begin: lines, quoted fields, headers, blank ends; against the definition, byte by byte.
#include "io/records.h"

#include <random>
#include <string>
#include <vector>

#include "support/records.h"
#include "unit/io/files.h"

namespace gcbs {
namespace {

using test::bytes_in;
using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint64_t> found(const std::string& text, const std::string& path, std::size_t rows) {
  return find_records(bytes_in(text), path, rows, RunContext{});
}

Error refusal(const std::string& text, const std::string& path, std::size_t rows) {
  const Error error = error_of([&] { found(text, path, rows); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.problem(), HasSubstr(path));
  return error;
}

TEST(Records, TheNameDecidesTheFormat) {
  for (const char* csv : {"a.csv", "A.CSV", "x.tsv/a.Csv"}) {
    EXPECT_TRUE(format_of(csv).quoted) << csv;
    EXPECT_TRUE(format_of(csv).header) << csv;
  }
  EXPECT_FALSE(format_of("a.tsv").quoted);
  EXPECT_TRUE(format_of("a.TSV").header);
  for (const char* lines : {"a.jsonl", "a.json", "a.txt", "a.en", "csv", "a", "", "a.csv.jsonl"}) {
    EXPECT_FALSE(format_of(lines).quoted) << lines;
    EXPECT_FALSE(format_of(lines).header) << lines;
  }
}

TEST(Records, LinesEndWithANewlineOrTheFile) {
  EXPECT_THAT(found("a\nbb\nccc\n", "x.jsonl", 3), ElementsAre(0, 2, 5, 9));
  EXPECT_THAT(found("a\nbb\nccc", "x.jsonl", 3), ElementsAre(0, 2, 5, 8));
  EXPECT_THAT(found("a\r\nb\r\n", "x.txt", 2), ElementsAre(0, 3, 6));
  EXPECT_THAT(found("a\rb\nc\n", "x.txt", 2), ElementsAre(0, 4, 6)) << "a lone carriage return ends nothing";
  EXPECT_THAT(found("\n\nc\n", "x.txt", 3), ElementsAre(0, 1, 2, 4)) << "an empty line is a record";
  EXPECT_THAT(found("{\"a\": \"x\n\"}\n", "x.jsonl", 2), ElementsAre(0, 9, 12)) << "quotes mean nothing here";
}

TEST(Records, BlankLinesAtTheEndAreNoRecordsUnlessTheyHaveToBe) {
  EXPECT_THAT(found("a\nb\n\n\r\n", "x.jsonl", 2), ElementsAre(0, 2, 4));
  EXPECT_THAT(found("a\nb\n\n", "x.txt", 3), ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(found("h\nb\n\n", "x.tsv", 1), ElementsAre(2, 4));
  EXPECT_THAT(found("a\nb\n\n", "x.tsv", 2), ElementsAre(0, 2, 4));
  refusal("a\n\nb\n\n", "x.jsonl", 2);  // one between records is one
}

TEST(Records, OneMoreThanRowsIsAHeader) {
  for (const char* path : {"x.tsv", "x.csv"}) {
    EXPECT_THAT(found("h\na\nb\n", path, 2), ElementsAre(2, 4, 6));
    EXPECT_THAT(found("a\nb\n", path, 2), ElementsAre(0, 2, 4));
  }
  refusal("h\na\nb\n", "x.jsonl", 2);
  refusal("h\na\nb\n", "x.txt", 2);
}

TEST(Records, QuotedFieldsOfACsvHoldNewlines) {
  EXPECT_THAT(found("1,\"a\nb\"\n2,c\n", "x.csv", 2), ElementsAre(0, 8, 12));
  EXPECT_THAT(found("\"a\r\n\r\nb\",1\r\n\"\"\"\n\"\"\",2", "x.csv", 2), ElementsAre(0, 12, 21));
  EXPECT_THAT(found("1;\"a\nb\"\n2;c\n", "x.csv", 2), ElementsAre(0, 8, 12));
  EXPECT_THAT(found("3,5\" disk\n4,3\" disk\n", "x.csv", 2), ElementsAre(0, 10, 20)) << "text, no field";
  EXPECT_THAT(found("\"a\"b\"\nc\n", "x.csv", 2), ElementsAre(0, 6, 8)) << "closed before the b";
  EXPECT_THAT(found("\"\"\nb\n", "x.csv", 2), ElementsAre(0, 3, 5));
  EXPECT_THAT(found("1\t\"a\nb\"\n2\tc\n", "x.tsv", 3), ElementsAre(0, 5, 8, 12)) << "no quotes in .tsv";
}

TEST(Records, AByteOrderMarkBelongsToNoRecord) {
  EXPECT_THAT(found("\xef\xbb\xbf"
                    "a\nb\n",
                    "x.jsonl", 2),
              ElementsAre(3, 5, 7));
  EXPECT_THAT(found("\xef\xbb\xbf"
                    "h\na\n",
                    "x.tsv", 1),
              ElementsAre(5, 7));
  EXPECT_THAT(found("\xef\xbb\xbf\"a\nb\"\nc\n", "x.csv", 2), ElementsAre(3, 9, 11));
  EXPECT_THAT(found("\xef\xbb", "x.txt", 1), ElementsAre(0, 2)) << "half a mark is none";
}

TEST(Records, AWrongCountStatesBoth) {
  EXPECT_THAT(refusal("a\nb\nc\n", "x.jsonl", 2).problem(), HasSubstr("3 lines for 2 rows"));
  EXPECT_THAT(refusal("a\nb\nc\n", "x.jsonl", 4).problem(), HasSubstr("3 lines for 4 rows"));
  EXPECT_THAT(refusal("a\n\"b\nc\"\nd\n", "x.csv", 7).problem(), HasSubstr("3 records for 7 rows"));
  EXPECT_THAT(refusal("a\nb\nc\n", "x.csv", 1).reason(), HasSubstr("header"));
  EXPECT_THAT(refusal("a\n\nb\n\n", "x.jsonl", 9).reason(), HasSubstr("2 of the lines are blank"));
  EXPECT_THAT(refusal("\xef\xbb\xbf", "x.jsonl", 2).problem(), HasSubstr("0 lines for 2 rows"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "a\n";
  EXPECT_THAT(refusal(many, "x.jsonl", 2).problem(), HasSubstr("1000 lines")) << "counted to the end";
}

TEST(Records, AQuoteThatIsNeverClosedIsRefused) {
  EXPECT_THAT(refusal("a,b\nc,\"d\ne,f\n", "x.csv", 3).reason(), HasSubstr("record 2"));
  refusal("\"", "x.csv", 1);
  refusal("a\n\"\"\"", "x.csv", 2);
}

TEST(Records, WhatIsNoTextGetsAdvice) {
  using namespace std::string_literals;
  EXPECT_THAT(refusal("\x1f\x8b\x08\x00"s, "x.jsonl.gz", 1).fix(), HasSubstr("gunzip"));
  EXPECT_THAT(refusal("\x28\xb5\x2f\xfd"s, "x.jsonl", 1).reason(), HasSubstr("zstd"));
  EXPECT_THAT(refusal("\xfd\x37zXZ\0"s, "x.jsonl", 1).reason(), HasSubstr("xz"));
  EXPECT_THAT(refusal("BZh91AY", "x.jsonl", 1).reason(), HasSubstr("bzip2"));
  EXPECT_THAT(refusal("PAR1\0\0\n"s, "x.parquet", 1).reason(), HasSubstr("zero bytes"));
  EXPECT_THAT(refusal("\xff\xfe"
                      "a\0\n\0"s,
                      "x.txt", 1)
                  .reason(),
              HasSubstr("UTF-16"));
}

TEST(Records, AJsonArrayIsNoListOfLines) {
  EXPECT_THAT(refusal("[{\"a\": 1},\n{\"a\": 2}]\n", "x.json", 2).fix(), HasSubstr("jq"));
  EXPECT_THAT(refusal("[\n1,\n2\n]\n", "x.jsonl", 2).fix(), HasSubstr("jq"));
  EXPECT_THAT(refusal("[1, 2]\n", "x.json", 2).fix(), HasSubstr("jq"));
  EXPECT_THAT(found("[1, 2]\n[3, 4]\n", "x.jsonl", 2), ElementsAre(0, 7, 14));
  EXPECT_THAT(found("[1,\n2]\n", "x.txt", 2), ElementsAre(0, 4, 7));
}

TEST(Records, AgreesWithTheDefinitionOnRandomTexts) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces{"a",  "a",    ",",  ";",   "\"",  "\"\"",
                                        "\n", "\r\n", "\r", ",\"", "\",", "\xef\xbb\xbf"};
  std::size_t agreed = 0, split = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text;
    for (std::size_t length = random() % 24; length > 0; --length) text += pieces[random() % pieces.size()];
    for (const char* path : {"x.csv", "x.tsv", "x.txt"}) {
      const RecordFormat format = format_of(path);
      const std::size_t rows = random() % 6;
      const auto expected = test::find_slowly(text, format.quoted, format.header, rows);
      if (expected) {
        ASSERT_EQ(found(text, path, rows), *expected) << path << " " << rows << "\n" << text;
        ++split;
      } else {
        ASSERT_THROW(found(text, path, rows), Error) << path << " " << rows << "\n" << text;
      }
      ++agreed;
    }
  }
  EXPECT_GT(split, agreed / 10);
}

class Stopper final : public Observer {
 public:
  bool stop_requested() noexcept override { return true; }
};

TEST(Records, StopsWhenAsked) {
  Stopper stopper;
  const RunContext run{1, &stopper, nullptr};
  for (const char* path : {"x.txt", "x.csv"})
    for (const char* piece : {"a\n", "a"}) {  // many records, or one that is long
      std::string text = path == std::string("x.csv") ? "\"" : "";
      while (text.size() < std::size_t{9} << 20) text += piece;
      ErrorKind kind = ErrorKind::internal;
      try {
        find_records(bytes_in(text), path, 1, run);
      } catch (const Error& error) {
        kind = error.kind();
      }
      EXPECT_EQ(kind, ErrorKind::interrupted);
    }
}

}  // namespace
}  // namespace gcbs
