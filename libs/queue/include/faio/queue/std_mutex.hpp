// std_mutex -- the mutex of std_atomics, apart from it: a queue without a lock does not make its users compile <mutex>.
#pragma once

#include <mutex>

namespace faio::queue {

struct std_mutex : std::mutex {};

}  // namespace faio::queue
