// queue -- all of faio::queue.
#pragma once

#include "faio/queue/deque.hpp"
#include "faio/queue/global_queue.hpp"
#include "faio/queue/inbox.hpp"
#include "faio/queue/local_queue.hpp"
