// allocation_test -- none for a read or a write: neither on the spot nor by the engine.
#include <fcntl.h>

#include <array>
#include <cstdlib>
#include <new>

#include "faio/fs/file.hpp"
#include "fs_fixture.hpp"

namespace {
// Of this thread: with one worker that is all that the tasks do.
thread_local long allocations = 0;

void* count_and_allocate(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
}  // namespace

// Not inlined: g++ would see a free of what came from new.
[[gnu::noinline]] void* operator new(std::size_t size) { return count_and_allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return count_and_allocate(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace faio::fs {
namespace {

class FsAllocationTest : public FsTest {};
FAIO_ON_BOTH_ENGINES(FsAllocationTest);

TEST_P(FsAllocationTest, ReadsAndWritesAllocateNothing) {
  runtime_context one({.workers = 1, .engine = GetParam()});
  long made = -1;
  long by_a_task = -1;
  one.block_on([&]() -> task<void> {
    const auto opened = co_await file::open(in_folder("file"), O_RDWR | O_CREAT);
    std::array<std::byte, 64> bytes{};
    const iovec vector{bytes.data(), bytes.size()};
    // Until it is warm: the stop source of the task is made at its first wait, and the epoll engine starts some threads.
    for (int rounds = 0; made != 0 && rounds < 20; ++rounds) {
      const long before = allocations;
      for (int i = 0; i < 200; ++i) {  // more than are read on the spot in one turn
        (void)co_await opened->write_at(bytes, 0);
        (void)co_await opened->read_at(bytes, 0);
        (void)co_await opened->read_vectored_at({&vector, 1}, 0);
      }
      made = allocations - before;
    }
    const long before = allocations;
    auto text = std::make_unique<std::string>(100, 'x');  // the counter counts
    (void)co_await opened->write_all_at(*text, 0);
    by_a_task = allocations - before;
  });
  EXPECT_EQ(made, 0);
  EXPECT_GE(by_a_task, 2);
}

}  // namespace
}  // namespace faio::fs
