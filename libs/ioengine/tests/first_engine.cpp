// first_engine -- the example of the README: a file read by an engine, without anything else of faio.
#include <fcntl.h>

#include <array>
#include <cstdio>

#include "faio/ioengine/engine.hpp"

using namespace faio::ioengine;

int main() {
  auto made = engine::create();
  if (!made) return std::fprintf(stderr, "%s\n", made.error().message.c_str()), 1;
  engine& io = **made;
  std::printf("%s\n", io.kind_reason().c_str());

  std::array<std::byte, 64> buffer{};
  operation read([](operation& done) noexcept { std::printf("read %d bytes\n", done.result()); });
  read.prepare_read(::open("/proc/version", O_RDONLY | O_CLOEXEC), buffer);
  io.submit(read);                               // into the batch; nothing happens yet
  while (read.in_flight()) io.wait_and_drive();  // submits, sleeps, calls the function
  return read.result() > 0 ? 0 : 1;
}
