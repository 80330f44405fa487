// operation -- the one thing about it that is not inline: its refusal to die in flight.
#include "faio/ioengine/operation.hpp"

#include <cstdio>
#include <cstdlib>

namespace faio::ioengine {

void operation::die_in_flight() noexcept {
  std::fputs(
      "faio: an operation was destroyed in flight; cancel it and drive until it has completed, or drain the engine\n",
      stderr);
  std::abort();
}

}  // namespace faio::ioengine
