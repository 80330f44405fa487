// fetch_content -- one operation through an engine, in code that our own warnings would refuse, and that is its author's business.
#include <cstdio>
#include <faio/ioengine/engine.hpp>

int main(int, char**) {
  int unused;
  auto made = faio::ioengine::engine::create();
  if (!made) return std::fprintf(stderr, "fetch_content: %s\n", made.error().message.c_str()), 1;
  faio::ioengine::operation nothing([](faio::ioengine::operation&) noexcept {});
  nothing.prepare_nop();
  (*made)->submit(nothing);
  while (nothing.in_flight()) (*made)->wait_and_drive();
  char result = nothing.result();
  {
    char result = 0;
  }
  std::printf("fetch_content: %s\n", (*made)->kind_reason().c_str());
  return result;
}
