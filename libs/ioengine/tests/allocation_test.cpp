// allocations -- none for an operation or a timer: once an engine is warm, submit, complete and cancel allocate nothing.
#include <cstdlib>
#include <new>

#include "engine_fixture.hpp"

namespace {
// Of this thread: the epoll engine's own threads are not the caller's business, and the test library has others.
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

namespace faio::ioengine::testing {
namespace {

class AllocationTest : public io_fixture {};
FAIO_FOR_IO_KINDS(AllocationTest);

/// A read that waits, one that is cancelled, one of a file, a timer that fires and one that does not.
struct round_of_work {
  fd_pair pipe = make_pipe();
  owned_fd file = make_file("content");
  std::array<std::byte, 8> first{}, second{}, third{};
  operation waiting{[](operation&) noexcept {}};
  operation cancelled{[](operation&) noexcept {}};
  operation from_file{[](operation&) noexcept {}};
  operation sync{[](operation&) noexcept {}};
  timeout_operation fires{[](operation&) noexcept {}};
  timeout_operation does_not{[](operation&) noexcept {}};

  void run(engine& io) {
    waiting.prepare_read(pipe.first, first);
    cancelled.prepare_read(pipe.first, second);
    from_file.prepare_read(file, third, 0);
    sync.prepare_fsync(file, true);
    fires.prepare_timeout(std::chrono::steady_clock::now());
    does_not.prepare_timeout(std::chrono::steady_clock::now() + 1h);
    for (operation* op :
         {&waiting, &cancelled, &from_file, &sync, static_cast<operation*>(&fires), static_cast<operation*>(&does_not)})
      io.submit(*op);
    io.drive();
    io.cancel(cancelled);
    io.cancel(does_not);
    if (::write(pipe.second, "abc", 3) != 3) std::abort();
    while (io.in_flight() != 0) io.wait_and_drive();
  }
};

TEST_P(AllocationTest, AnOperationAllocatesNothing) {
  auto with_one_thread = options();  // it is started when first needed: more of them would be at any time
  with_one_thread.blocking_threads = 1;
  auto own = make_engine(with_one_thread);
  round_of_work work;
  for (int i = 0; i < 10; ++i) work.run(*own);  // epoll: its table of descriptors, its thread
  allocations = 0;
  for (int i = 0; i < 1000; ++i) work.run(*own);
  const long by_the_engine = allocations;
  ::operator delete(::operator new(1));  // a call, where clang may leave out the allocation of a new-expression
  EXPECT_EQ(allocations, by_the_engine + 1) << "allocations are not counted, so this shows nothing";
  EXPECT_EQ(by_the_engine, 0);
}

}  // namespace
}  // namespace faio::ioengine::testing
