// queue -- all of faio::queue.
#pragma once

#if __cplusplus < 202100L  // first, so that it is the first thing said
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include "faio/queue/deque.hpp"
#include "faio/queue/global_queue.hpp"
#include "faio/queue/inbox.hpp"
#include "faio/queue/local_queue.hpp"
