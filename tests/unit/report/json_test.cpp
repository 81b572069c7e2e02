// The JSON objects that scripts rely on: every key, its type, null where a value has no meaning.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/report.h"

namespace gcbs {
namespace {

OrderReport small_report() {
  OrderReport report;
  report.x_path = "X.npy";
  report.y_path = "Y.npy";
  report.output_path = "order.npy";
  report.rows = 100;
  report.dim = 8;
  report.options.batch_size = 10;
  report.result.threshold = Threshold{ThresholdMode::exact, 0.5, 0.5, 0.5};
  report.result.quantile = 0.9;
  report.result.edge_count = 900;
  report.result.stages = {{"read", 0.25}, {"write", 0.5}};
  report.result.peak_bytes = 4096;
  report.seconds = 1;
  return report;
}

nlohmann::json parsed(const OrderReport& report) { return nlohmann::json::parse(json_of(report)); }

TEST(JsonReport, HasTheKeysOfTheContract) {
  const nlohmann::json json = parsed(small_report());
  for (const char* key : {"schema", "command", "version", "options", "n", "d", "isa", "threads", "seconds",
                          "stages", "peak_bytes", "method", "threshold", "edges", "output"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["command"], "order");
  EXPECT_EQ(json["n"], 100);
  EXPECT_EQ(json["edges"], 900);
  EXPECT_EQ(json["stages"][1], (nlohmann::json{{"name", "write"}, {"seconds", 0.5}}));
  EXPECT_EQ(json["threshold"],
            (nlohmann::json{{"mode", "exact"}, {"value", 0.5}, {"low", 0.5}, {"high", 0.5}}));
}

TEST(JsonReport, OptionsAreResolved) {
  const nlohmann::json options = parsed(small_report())["options"];
  EXPECT_EQ(options["quantile"], 0.9);
  EXPECT_EQ(options["neighbours"], 10) << "the default is the batch size";
  EXPECT_EQ(options["shortcut"], "auto");
  EXPECT_TRUE(options["memory_limit"].is_null());
  EXPECT_TRUE(options["edges"].is_null());
}

TEST(JsonReport, NeighboursFollowAGivenQuantile) {
  OrderReport report = small_report();
  report.options.similarity.quantile = 0.75;
  EXPECT_EQ(parsed(report)["options"]["neighbours"], 25);
}

TEST(JsonReport, AMethodWithoutAGraphHasNoThreshold) {
  OrderReport report = small_report();
  report.options.ordering.method = Method::natural;
  report.result.threshold.reset();
  report.result.edge_count = 0;
  const nlohmann::json json = parsed(report);
  EXPECT_TRUE(json["threshold"].is_null());
  EXPECT_TRUE(json["options"]["quantile"].is_null());
  EXPECT_EQ(json["edges"], 0);
}

TEST(JsonReport, OnlyPackHasSwaps) {
  OrderReport report = small_report();
  EXPECT_TRUE(parsed(report)["swaps"].is_null());
  report.result.swaps = 7;
  EXPECT_EQ(parsed(report)["swaps"], 7);
}

TEST(JsonReport, ParsesWhateverAFileIsCalled) {
  OrderReport report = small_report();
  report.x_path = "caf\xe9 \"\n\x01.npy";
  EXPECT_EQ(parsed(report)["options"]["x"], "caf\uFFFD \"\n\x01.npy");
}

TEST(JsonReport, OfTheMachine) {
  const MachineReport report{{Isa::avx2, Isa::scalar}, {Isa::scalar}, Isa::scalar, 4, 0.1};
  const nlohmann::json json = nlohmann::json::parse(json_of(report));
  EXPECT_EQ(json["compiled"], (nlohmann::json{"avx2", "scalar"}));
  EXPECT_EQ(json["available"], (nlohmann::json{"scalar"}));
  EXPECT_EQ(json["chosen"], "scalar");
  EXPECT_TRUE(json["n"].is_null());
}

}  // namespace
}  // namespace gcbs
