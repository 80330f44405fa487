// bad_element -- must not compile; CMakeLists.txt looks for the sentence that says why.
#include <faio/queue/deque.hpp>

struct three_bytes {
  char bytes[3];
};
faio::queue::deque<three_bytes> queue;
