// The lines for people: numbers as people write them, no line about what a run did not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.h"

namespace gcbs {
namespace {

using testing::HasSubstr;

std::string text_of(const OrderReport& report, const std::string& label) {
  for (const ReportLine& line : lines_of(report))
    if (line.label == label) return line.text;
  return "no such line";
}

OrderReport small_report() {
  OrderReport report;
  report.x_path = report.y_path = "X.npy";
  report.output_path = "order.npy";
  report.rows = 1000;
  report.dim = 8;
  report.options.batch_size = 64;
  report.result.threshold = Threshold{ThresholdMode::exact, 0.5, 0.5, 0.5};
  report.result.edge_count = 12345;
  report.result.stages = {{"read", 0.001}, {"join", 1.5}};
  report.result.peak_bytes = 3 << 20;
  report.seconds = 2;
  return report;
}

TEST(TextReport, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(TextReport, NamesBytes) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{9} << 30), "9.0 GiB");
}

TEST(TextReport, TellsWhatWentInAndWhatWasFound) {
  const OrderReport report = small_report();
  EXPECT_EQ(text_of(report, "pairs"), "1,000 x 8  X.npy");
  EXPECT_EQ(text_of(report, "edges"), "12,345  12.3 a row");
  EXPECT_EQ(text_of(report, "order"), "pack, 15 batches of 64 and one of 40");
  EXPECT_EQ(text_of(report, "written"), "order.npy");
}

TEST(TextReport, LeavesOutStagesThatTookNoTime) {
  EXPECT_EQ(text_of(small_report(), "time"), "2.00 s  join 1.50 s");
}

TEST(TextReport, GivesTheIntervalOfAnEstimate) {
  OrderReport report = small_report();
  report.result.threshold = Threshold{ThresholdMode::estimate, 0.5, 0.25, 0.75};
  EXPECT_THAT(text_of(report, "threshold"), HasSubstr("between 0.250000 and 0.750000"));
}

TEST(TextReport, IsSilentAboutAGraphThatWasNotBuilt) {
  OrderReport report = small_report();
  report.result.threshold.reset();
  EXPECT_EQ(text_of(report, "edges"), "no such line");
  EXPECT_EQ(text_of(report, "memory"), "no such line");
}

TEST(TextReport, CountsTheSwapsOfPack) {
  OrderReport report = small_report();
  report.options.ordering.method = Method::pack;
  report.result.swaps = 4321;
  EXPECT_EQ(text_of(report, "order"), "pack, 15 batches of 64 and one of 40, 4,321 swaps");
}

TEST(TextReport, WholeBatchesHaveNoRemainder) {
  OrderReport report = small_report();
  report.rows = 640;
  EXPECT_EQ(text_of(report, "order"), "pack, 10 batches of 64");
}

}  // namespace
}  // namespace gcbs
