// workloads -- what compare_liburing can run.
#pragma once

#include "common/program.hpp"

namespace compare {

void responder(options& wanted);
void file_reads(options& wanted);

}  // namespace compare
