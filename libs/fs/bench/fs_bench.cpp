// fs_bench -- random reads of 4 KiB from a file that is in the page cache, 32 at a time, on one thread: faio, liburing by hand, pread.
//
// Isolates what a read costs beside the kernel's copy. Leaves out: the device, writing, several threads.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "bars.hpp"
#include "faio/context/context.hpp"
#include "faio/fs/fs.hpp"

namespace {

constexpr std::size_t block = 4096;
constexpr std::size_t blocks = 16 * 1024;  // 64 MiB
constexpr int depth = 32;
constexpr int reads_each = 256;  // by each of the 32, for one iteration
constexpr std::int64_t reads = std::int64_t{depth} * reads_each;

/// Removed at once; read through /proc by those who need a name.
class warm_file {
 public:
  warm_file() {
    std::string name = "/tmp/faio-fs-bench-XXXXXX";
    _fd = ::mkstemp(name.data());
    ::unlink(name.c_str());
    const std::vector<char> piece(1 << 20, 'x');
    for (std::size_t at = 0; at < block * blocks; at += piece.size()) {
      if (::pwrite(_fd, piece.data(), piece.size(), static_cast<off_t>(at)) < 0) std::abort();
    }
  }
  [[nodiscard]] int fd() const { return _fd; }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(_fd); }

 private:
  int _fd = -1;
};

const warm_file& warm() {
  static const warm_file one;
  return one;
}

/// The same walk for all of them.
class walk {
 public:
  explicit walk(std::uint32_t seed) : _state(seed * 2654435761U + 1) {}
  std::uint64_t next() {
    _state = _state * 1664525U + 1013904223U;
    return std::uint64_t{(_state >> 8) % blocks} * block;
  }

 private:
  std::uint32_t _state;
};

using page = std::array<std::byte, block>;

void by_pread(benchmark::State& state) {
  alignas(block) static page into;
  walk path(1);
  for (auto _ : state) {
    for (int i = 0; i < reads; ++i) {
      benchmark::DoNotOptimize(::pread(warm().fd(), into.data(), block, static_cast<off_t>(path.next())));
    }
  }
  state.SetItemsProcessed(state.iterations() * reads);
}

void by_liburing(benchmark::State& state) {
  io_uring ring{};
  if (::io_uring_queue_init(depth, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) != 0) {
    state.SkipWithError("io_uring is not allowed here");
    return;
  }
  static std::vector<page> into(depth);
  walk path(1);
  const auto ask = [&](std::uint64_t slot) {
    io_uring_sqe* const entry = ::io_uring_get_sqe(&ring);
    ::io_uring_prep_read(entry, warm().fd(), into[slot].data(), block, path.next());
    ::io_uring_sqe_set_data64(entry, slot);
  };
  for (auto _ : state) {
    std::int64_t asked = depth;
    for (int slot = 0; slot < depth; ++slot) ask(static_cast<std::uint64_t>(slot));
    for (std::int64_t done = 0; done < reads;) {
      ::io_uring_submit_and_wait(&ring, 1);
      io_uring_cqe* completion = nullptr;
      unsigned head = 0;
      unsigned seen = 0;
      io_uring_for_each_cqe(&ring, head, completion) {
        ++seen;
        if (asked < reads) {
          ++asked;
          ask(completion->user_data);
        }
      }
      ::io_uring_cq_advance(&ring, seen);
      done += seen;
    }
  }
  ::io_uring_queue_exit(&ring);
  state.SetItemsProcessed(state.iterations() * reads);
}

faio::task<void> reader(const faio::fs::file& from, page& into, std::uint32_t seed) {
  walk path(seed);
  for (int i = 0; i < reads_each; ++i) benchmark::DoNotOptimize(co_await from.read_at(into, path.next()));
}

void by_faio(benchmark::State& state, faio::engine_kind engine, int flags) {
  faio::runtime_context ctx{{.workers = 1, .engine = engine}};
  static std::vector<page> into(depth);
  auto opened = ctx.block_on(faio::fs::file::open(warm().path(), flags));
  if (!opened) {
    state.SkipWithError(opened.error().message().c_str());
    return;
  }
  for (auto _ : state) {
    ctx.block_on([&]() -> faio::task<void> {
      faio::task_group group;
      for (std::uint32_t i = 0; i < depth; ++i) group.spawn(reader(*opened, into[i], i));
      co_await group.join();
    });
  }
  state.SetItemsProcessed(state.iterations() * reads);
}

/// The engine's way: what a read costs that is not on the spot.
faio::task<void> vectored_reader(const faio::fs::file& from, page& into, std::uint32_t seed) {
  walk path(seed);
  const iovec one{into.data(), into.size()};
  for (int i = 0; i < reads_each; ++i) {
    benchmark::DoNotOptimize(co_await from.read_vectored_at({&one, 1}, path.next()));
  }
}

void by_faio_ring(benchmark::State& state) {
  faio::runtime_context ctx{{.workers = 1}};
  static std::vector<page> into(depth);
  auto opened = ctx.block_on(faio::fs::file::open(warm().path()));
  for (auto _ : state) {
    ctx.block_on([&]() -> faio::task<void> {
      faio::task_group group;
      for (std::uint32_t i = 0; i < depth; ++i) group.spawn(vectored_reader(*opened, into[i], i));
      co_await group.join();
    });
  }
  state.SetItemsProcessed(state.iterations() * reads);
}

constexpr faio::bench::bar bars[] = {
    {"a cached read, against liburing by hand", "read/faio", "read/liburing", 1 / 0.95},
    {"the same by the ring", "read/faio, by the ring", "read/liburing"},
    {"a cached read, against pread", "read/faio", "read/pread"},
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("read/pread", by_pread)->MeasureProcessCPUTime()->UseRealTime();
  benchmark::RegisterBenchmark("read/liburing", by_liburing)->MeasureProcessCPUTime()->UseRealTime();
  benchmark::RegisterBenchmark("read/faio", by_faio, faio::engine_kind::automatic, O_RDONLY)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
  benchmark::RegisterBenchmark("read/faio, epoll", by_faio, faio::engine_kind::epoll, O_RDONLY)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
  benchmark::RegisterBenchmark("read/faio, by the ring", by_faio_ring)->MeasureProcessCPUTime()->UseRealTime();
  return faio::bench::run(argc, argv, bars);
}
