// policy -- local_queue::pop() as every user of the library gets it, through the atomics policy.
#include <faio/queue/local_queue.hpp>

template class faio::queue::local_queue<void*, 256>;
