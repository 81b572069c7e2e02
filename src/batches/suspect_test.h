// How this stage learns whether two rows look like positives of each other.
#pragma once

#include <functional>

#include "gcbs/graph.h"

namespace gcbs {

/// The same for (j,i). Empty: no pair is suspect. Called from several threads.
using SuspectTest = std::function<bool(Vertex, Vertex)>;

}  // namespace gcbs
