// Everything at once.
#pragma once

#include "gcbs/array.h"
#include "gcbs/batches.h"
#include "gcbs/cpu.h"
#include "gcbs/error.h"
#include "gcbs/filter.h"
#include "gcbs/gap.h"
#include "gcbs/graph.h"
#include "gcbs/io.h"
#include "gcbs/loss.h"
#include "gcbs/matrix.h"
#include "gcbs/mining.h"
#include "gcbs/observer.h"
#include "gcbs/ordering.h"
#include "gcbs/pipeline.h"
#include "gcbs/similarity.h"
#include "gcbs/version.h"
