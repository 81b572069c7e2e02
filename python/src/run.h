// A long call from Python: the work on a thread of its own, so that the calling thread can look for Ctrl-C
// and tell how far it is. The GIL is free meanwhile.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "gcbs/observer.h"

namespace gcbs::python {

namespace nb = nanobind;

/// Runs `work` to its end. `tick(stage, done, total)` (or None) is called about ten times a second, on this
/// thread; what it raises, and KeyboardInterrupt, stop the work and come through once it has stopped.
void run_interruptibly(nb::handle tick, const std::function<void(Observer&)>& work);

/// gcbs::Error becomes gcbs.Error or gcbs.InputError, which python/gcbs/_errors.py makes.
void translate_errors();

}  // namespace gcbs::python
