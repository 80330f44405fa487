// engine_bench -- the uring engine beside a hand-written liburing loop with the same flags, in one process.
//
// Isolates what the engine adds to the kernel's own cost of an operation: the virtual call, the lists, the waker, the function
// pointer. Leaves out: the kernel's side of real devices and networks, other threads, and what a completion does with its data.
//
//   nop N        N operations in flight; each is submitted again when it completes.
//   read 4k N    4 KiB reads at changing offsets of a file in the page cache, N in flight.
//   ping-pong    one byte to and fro over a socket pair, both ends in the same ring; one round trip is four operations.
//
// The two take turns, in slices short enough that the machine's drift hits both; medians over the rounds, and the median of the
// rounds' own ratios. The hand-written loop is what its manual shows: get an entry, prepare, submit and wait, for each completion.
//
//   engine_bench [--rounds N] [--only "nop 1"] [--check]     --check: fails if a ratio is under 0.95
#include <fcntl.h>
#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "faio/ioengine/engine.hpp"

namespace {

using namespace faio::ioengine;

constexpr double bar = 0.95;
constexpr unsigned ring_entries = 256;  // the engine's default
constexpr std::size_t page = 4096;
constexpr std::size_t file_pages = 4096;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

/// CPU time of this thread: nothing here sleeps, and it bears other load on the machine better than the clock on the wall.
double now() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double seconds_since(double start) { return now() - start; }

/// Spreads reads over the file, the same way for both.
struct offsets {
  std::uint64_t state = 0;
  std::uint64_t next() { return (state = (state + 1237) % file_pages) * page; }
};

// ------------------------------------------------------------------------------------------------- by hand, with liburing

struct raw_ring {
  io_uring ring{};
  raw_ring() {
    io_uring_params parameters{};
    parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN |
                       IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP;
    if (io_uring_queue_init_params(ring_entries, &ring, &parameters) != 0) fail("io_uring_queue_init_params");
    io_uring_register_ring_fd(&ring);
  }
  ~raw_ring() { io_uring_queue_exit(&ring); }

  /// Calls `each(cqe)` until it has seen `total`.
  template <class Each>
  void loop(std::size_t total, Each each) {
    std::size_t seen = 0;
    while (seen < total) {
      if (io_uring_submit_and_wait(&ring, 1) < 0) fail("io_uring_submit_and_wait");
      unsigned head = 0;
      unsigned count = 0;
      io_uring_cqe* cqe = nullptr;
      io_uring_for_each_cqe(&ring, head, cqe) {
        ++count;
        each(*cqe);
      }
      io_uring_cq_advance(&ring, count);
      seen += count;
    }
  }
};

/// The least that any loop with more than one operation in flight keeps: which one it was, and what it gave.
struct raw_request {
  int result = 0;
  bool in_flight = false;
};

double raw_nop(raw_ring& raw, unsigned depth, std::size_t total) {
  std::vector<raw_request> requests(depth);
  std::size_t left = total;
  const auto submit = [&](raw_request& request) {
    if (left == 0) return;
    --left;
    io_uring_sqe* sqe = io_uring_get_sqe(&raw.ring);
    io_uring_prep_nop(sqe);
    io_uring_sqe_set_data(sqe, &request);
    request.in_flight = true;
  };
  const auto start = now();
  for (auto& request : requests) submit(request);
  raw.loop(total, [&](io_uring_cqe& cqe) {
    auto& request = *static_cast<raw_request*>(io_uring_cqe_get_data(&cqe));
    request.in_flight = false;
    request.result = cqe.res;
    if (request.result != 0) fail("nop");
    submit(request);
  });
  return static_cast<double>(total) / seconds_since(start);
}

double raw_read(raw_ring& raw, int fd, unsigned depth, std::size_t total) {
  static std::vector<std::array<char, page>> buffers;
  buffers.resize(depth);
  offsets where;
  std::size_t left = total;
  const auto submit = [&](std::uint64_t slot) {
    if (left == 0) return;
    --left;
    io_uring_sqe* sqe = io_uring_get_sqe(&raw.ring);
    io_uring_prep_read(sqe, fd, buffers[slot].data(), page, where.next());
    io_uring_sqe_set_data64(sqe, slot);
  };
  const auto start = now();
  for (unsigned i = 0; i < depth; ++i) submit(i);
  raw.loop(total, [&](io_uring_cqe& cqe) {
    if (cqe.res != page) fail("read");
    submit(cqe.user_data);
  });
  return static_cast<double>(total) / seconds_since(start);
}

double raw_ping_pong(raw_ring& raw, const int* ends, std::size_t total) {
  char in = 0;
  const char out = 'x';
  std::size_t rounds = total / 4;
  // user_data: 0 a send, 1 + end a receive.
  const auto receive = [&](std::uint64_t end) {
    io_uring_sqe* sqe = io_uring_get_sqe(&raw.ring);
    io_uring_prep_recv(sqe, ends[end], &in, 1, 0);
    io_uring_sqe_set_data64(sqe, 1 + end);
  };
  const auto send = [&](std::uint64_t end) {
    io_uring_sqe* sqe = io_uring_get_sqe(&raw.ring);
    io_uring_prep_send(sqe, ends[end], &out, 1, 0);
    io_uring_sqe_set_data64(sqe, 0);
  };
  const auto start = now();
  receive(1);
  send(0);
  raw.loop(rounds * 4, [&](io_uring_cqe& cqe) {
    if (cqe.res != 1) fail("ping-pong");
    if (cqe.user_data == 0) return;
    const std::uint64_t end = cqe.user_data - 1;
    if (end == 0 && --rounds == 0) return;
    receive(1 - end);
    send(end);
  });
  return static_cast<double>(total) / seconds_since(start);
}

// --------------------------------------------------------------------------------------------------------- by the engine

void run(engine& io) {
  while (io.in_flight() != 0) io.wait_and_drive();
}

double engine_nop(engine& io, unsigned depth, std::size_t total) {
  struct nop : operation {
    engine* io = nullptr;
    std::size_t* left = nullptr;
    nop()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<nop&>(op);
            if (op.result() != 0) fail("nop");
            self.again();
          }) {}
    void again() noexcept {
      if (*left == 0) return;
      --*left;
      prepare_nop();
      io->submit(*this);
    }
  };
  std::size_t left = total;
  std::vector<nop> ops(depth);
  const auto start = now();
  for (auto& op : ops) {
    op.io = &io;
    op.left = &left;
    op.again();
  }
  run(io);
  return static_cast<double>(total) / seconds_since(start);
}

double engine_read(engine& io, int fd, unsigned depth, std::size_t total) {
  struct shared_state {
    engine& io;
    int fd;
    std::size_t left;
    offsets where;
  } state{io, fd, total, {}};
  struct reader : operation {
    shared_state* state = nullptr;
    std::byte* buffer = nullptr;
    reader()
        : operation([](operation& op) noexcept {
            if (op.result() != page) fail("read");
            static_cast<reader&>(op).again();
          }) {}
    void again() noexcept {
      if (state->left == 0) return;
      --state->left;
      prepare_read(state->fd, std::span(buffer, page), state->where.next());
      state->io.submit(*this);
    }
  };
  static std::vector<std::array<std::byte, page>> buffers;
  buffers.resize(depth);
  std::vector<reader> ops(depth);
  const auto start = now();
  for (unsigned i = 0; i < depth; ++i) {
    ops[i].state = &state;
    ops[i].buffer = buffers[i].data();
    ops[i].again();
  }
  run(io);
  return static_cast<double>(total) / seconds_since(start);
}

double engine_ping_pong(engine& io, const int* ends, std::size_t total) {
  struct player : operation {
    struct sender : operation {
      sender()
          : operation([](operation& op) noexcept {
              if (op.result() != 1) fail("ping-pong");
            }) {}
    };
    engine* io = nullptr;
    player* other = nullptr;
    std::size_t* rounds = nullptr;
    int fd = -1;
    bool counts = false;
    std::byte in{};
    std::byte out{};
    sender send;
    player()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<player&>(op);
            if (op.result() != 1) fail("ping-pong");
            if (self.counts && --*self.rounds == 0) return;
            self.other->receive();
            self.answer();
          }) {}
    void receive() noexcept {
      prepare_recv(fd, std::span(&in, 1));
      io->submit(*this);
    }
    void answer() noexcept {
      send.prepare_send(fd, std::span(&out, 1));
      io->submit(send);
    }
  };
  std::size_t rounds = total / 4;
  std::array<player, 2> players;
  for (std::size_t i = 0; i < 2; ++i) {
    players[i].io = &io;
    players[i].other = &players[1 - i];
    players[i].rounds = &rounds;
    players[i].fd = ends[i];
    players[i].counts = i == 0;
  }
  const auto start = now();
  players[1].receive();
  players[0].answer();
  run(io);
  return static_cast<double>(total) / seconds_since(start);
}

// ------------------------------------------------------------------------------------------------------------- comparing

struct contest {
  std::string name;
  std::function<double()> raw;
  std::function<double()> engine;
  std::vector<double> raw_speeds{};
  std::vector<double> engine_speeds{};
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t rounds = 41;
  bool check = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0) check = true;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) rounds = std::strtoul(argv[++i], nullptr, 10);
    if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
  }
  auto made = engine::create({.kind = engine_kind::uring, .ring_entries = ring_entries});
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    return 2;
  }
  engine& io = **made;
  raw_ring raw;

  std::string path = "/tmp/faio_engine_bench_XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) fail("mkostemp");
  ::unlink(path.c_str());
  const std::vector<char> content(page * file_pages, 'b');
  if (::write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size())) fail("write");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");

  std::vector<contest> contests;
  for (const unsigned depth : {1U, 32U, 256U}) {
    const std::size_t total = depth == 1 ? 20'000 : 60'000;
    contests.push_back({"nop " + std::to_string(depth), [&raw, depth, total] { return raw_nop(raw, depth, total); },
                        [&io, depth, total] { return engine_nop(io, depth, total); }});
  }
  for (const unsigned depth : {1U, 32U}) {
    contests.push_back({"read 4k " + std::to_string(depth),
                        [&raw, file, depth] { return raw_read(raw, file, depth, 15'000); },
                        [&io, file, depth] { return engine_read(io, file, depth, 15'000); }});
  }
  contests.push_back({"ping-pong", [&raw, &ends] { return raw_ping_pong(raw, ends, 20'000); },
                      [&io, &ends] { return engine_ping_pong(io, ends, 20'000); }});

  if (!only.empty()) std::erase_if(contests, [&](const contest& each) { return each.name != only; });
  for (std::size_t round = 0; round < rounds; ++round) {
    for (contest& each : contests) {
      // Who goes first changes, so that neither always finds the caches as the other left them.
      if (round % 2 == 0) each.raw_speeds.push_back(each.raw());
      each.engine_speeds.push_back(each.engine());
      if (round % 2 != 0) each.raw_speeds.push_back(each.raw());
    }
  }

  std::printf("%s\n%zu rounds; thousands of operations a CPU second, medians\n", io.kind_reason().c_str(), rounds);
  std::printf("%-12s %10s %10s %8s\n", "", "by hand", "engine", "ratio");
  bool passed = true;
  for (contest& each : contests) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(each.engine_speeds[i] / each.raw_speeds[i]);
    const double ratio = median(ratios);
    passed = passed && ratio >= bar;
    std::printf("%-12s %10.0f %10.0f %8.3f%s\n", each.name.c_str(), median(each.raw_speeds) / 1000,
                median(each.engine_speeds) / 1000, ratio, ratio >= bar ? "" : "  under the bar");
  }
  return check && !passed ? 1 : 0;
}
