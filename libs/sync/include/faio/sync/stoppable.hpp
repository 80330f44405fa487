// stoppable -- whether a stop request ends a wait.
#pragma once

namespace faio::sync {

enum class stoppable : bool { no, yes };

}  // namespace faio::sync
