// Reverse Cuthill-McKee, the paper's order: cm from its end to its beginning.
//
// Ensures: equal to scipy.sparse.csgraph.reverse_cuthill_mckee on G + G^T wherever no two vertices
// that could start a component have the same degree. Among those scipy takes whichever its unstable
// argsort puts first; here it is the lower index. Neighbours of equal degree go by index in both.
// options.paper_degrees counts a diagonal entry twice, as scipy does. Cost: as cm.
//
// A. George: Computer implementation of the finite element method. Stanford, 1971.
#include <algorithm>

#include "ordering/orders.h"

namespace gcbs {

MeasuredOrder order_rcm(const Graph& graph, const OrderingOptions& options, const RunContext& run) {
  MeasuredOrder measured = order_cm(graph, options, run);
  std::reverse(measured.order.old_of_new.begin(), measured.order.old_of_new.end());
  return measured;
}

}  // namespace gcbs
