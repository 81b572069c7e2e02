// Orders a graph from standard input, for tests that compare with other implementations.
//
//   order_tool METHOD [--paper-degrees] [--threads T] [--seed S] < graph.txt
//
// The graph is text: the number of vertices, then "row column" for each directed entry, in any order,
// repeats allowed. The order goes to standard output, one vertex a line.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "gcbs/error.h"
#include "ordering/order_graph.h"
#include "support/graphs.h"

namespace {

gcbs::testing::Drawing read_graph(std::istream& text) {
  gcbs::testing::Drawing drawing{"standard input", 0, {}};
  if (!(text >> drawing.vertices)) throw gcbs::Error(gcbs::ErrorKind::input, "the graph has no size");
  for (gcbs::Vertex row = 0, column = 0; text >> row >> column;) {
    if (row >= drawing.vertices || column >= drawing.vertices)
      throw gcbs::Error(gcbs::ErrorKind::input, "an entry leaves the graph");
    drawing.pairs.emplace_back(row, column);
  }
  if (!text.eof()) throw gcbs::Error(gcbs::ErrorKind::input, "the graph is not text of numbers");
  return drawing;
}

int run(int argc, char** argv) {
  gcbs::OrderingOptions options;
  gcbs::RunContext context;
  const auto method = gcbs::method_from(argc > 1 ? argv[1] : "");
  if (!method) throw gcbs::Error(gcbs::ErrorKind::usage, "the first argument names no method");
  options.method = *method;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--paper-degrees")
      options.paper_degrees = true;
    else if (argument == "--threads" && i + 1 < argc)
      context.threads = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else if (argument == "--seed" && i + 1 < argc)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else
      throw gcbs::Error(gcbs::ErrorKind::usage, "unknown argument " + std::string(argument));
  }
  std::ios::sync_with_stdio(false);
  const gcbs::Graph graph = gcbs::testing::graph_of(read_graph(std::cin), context.threads);
  for (const gcbs::Vertex v : gcbs::order_graph(graph, options, context).old_of_new) std::cout << v << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "order_tool: " << error.what() << '\n';
    return 2;
  }
}
