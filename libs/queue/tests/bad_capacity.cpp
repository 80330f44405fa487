// bad_capacity -- must not compile; CMakeLists.txt looks for the sentence that says why.
#include <faio/queue/local_queue.hpp>

faio::queue::local_queue<int*, 100> queue;
