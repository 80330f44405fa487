// races -- submit, cancel and complete against each other over pipes, sockets and files, while other threads feed, empty and wake.
//
//   FAIO_SEED=<n>    takes the choices of an earlier run again; the threads are as free as ever.
//   FAIO_ROUNDS=<n>  instead of a million.
//
//   feeder --bytes--> [pipe, sockets] --reads, receives, polls--> engine --sends--> [socket, TCP] --> sinks
//
// What must hold, whatever is faster:
//   R1 Each submit completes for the last time exactly once.
//   R2 Nobody is cancelled whom nobody asked to end.
//   R3 No byte is lost, also not to an operation that was cancelled: what was fed is what was received and what is left, and what
//      was sent is what the sinks got.
//   R4 A buffer is written only between submit and completion, and only as far as the result says: the rest keeps its pattern.
//   R5 Every buffer of the pool comes back, and no descriptor is left over.
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <thread>

#include "engine_fixture.hpp"
#include "faio/ioengine/buffer_pool.hpp"
#ifdef FAIO_TEST_INSIDE
#include "uring_engine.hpp"
#endif

namespace faio::ioengine::testing {
namespace {

enum kind : std::uint8_t {
  pipe_read,
  pipe_readv,
  pipe_poll,
  socket_receive,
  socket_send,
  zero_copy_send,
  pooled_receive,
  pooled_multishot,
  file_read,
  file_write,
  file_sync,
  file_open,
  timeout,
  nop,
  kinds,
};
constexpr std::array<const char*, kinds> names{
    "pipe read",        "pipe readv", "pipe poll",  "receive",   "send",      "zero-copy send", "pooled receive",
    "pooled multishot", "file read",  "file write", "file sync", "file open", "timer",          "nop"};

constexpr std::size_t buffer_size = 32;
constexpr std::byte untouched{0xa5};

constexpr std::byte letter(char c) { return static_cast<std::byte>(c); }

class race;

/// One of many operations. Behind its buffer lies a border that nobody may write into.
struct racer : timeout_operation {
  race* owner = nullptr;
  kind what = nop;
  bool asked = false;
  iovec vector{};
  alignas(64) std::array<std::byte, 2 * buffer_size> memory;
  racer();
  [[nodiscard]] std::span<std::byte> buffer() { return std::span(memory).first(buffer_size); }
};

fd_pair make_tcp_pair() {
  const owned_fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  owned_fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(server, generic, length) != 0 || ::listen(server, 1) != 0 ||
      ::getsockname(server, generic, &length) != 0 || ::connect(client, generic, length) != 0)
    std::abort();
  return {std::move(client), owned_fd(::accept4(server, nullptr, nullptr, SOCK_CLOEXEC))};
}

class race {
 public:
  race(std::unique_ptr<engine> io, std::uint64_t seed) : _io(std::move(io)), _random(seed) {
    auto pool = buffer_pool::create(*_io, {.count = 8, .size = buffer_size});
    if (pool) _pool = std::move(*pool);  // without one (an old kernel): no pooled receives
    // Small, so that sends have to wait.
    const int small = 1;
    for (const int fd : {_socket.first.fd, _tcp.first.fd})
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    _out.fill(letter('o'));
    const std::string content(file_size, 'f');
    if (::write(_memory_file, content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
    for (racer& each : _racers) {
      each.owner = this;
      each.memory.fill(untouched);
    }
    _feeder = std::jthread([this] { feed(); });
    _sinks[0] = std::jthread([this] { sink(_socket.second, _socket_sunk); });
    _sinks[1] = std::jthread([this] { sink(_tcp.second, _tcp_sunk); });
  }

  void run(int rounds) {
    _left = rounds;
    while (_left > 0 && _failures == 0) {
      racer& op = any();
      if (!op.in_flight()) {
        start(op);
        continue;
      }
      switch (below(8)) {
        case 0:
        case 1:
          cancel(op);
          break;
        case 2:
          order(op.what);
          break;
        case 3:
          _io->wait_and_drive(std::chrono::steady_clock::now() + std::chrono::microseconds(below(100)));
          break;
        default:
          _io->drive();
      }
    }
    finish();
  }

  void completed(racer& op) {
    const int result = op.result();
    if (result == -ECANCELED) {
      if (!op.asked && !_draining) fail("was cancelled, and nobody had asked", op);
      ++_cancelled[op.what];
    } else {
      judge(op, result);
      ++_done[op.what];
    }
    for (const std::byte each : op.memory)
      if (each != untouched) {
        fail("has bytes in its buffer that its result does not tell of", op);
        break;
      }
    if (op.more()) return;
    ++_finished;
    if (_draining) return;
    if (below(8) == 0 && _left > 0) start(op);
    if (below(8) == 0) cancel(any());
  }

  /// How often each kind ended in which way, for the log and for the test.
  void print() const {
    for (std::size_t i = 0; i < kinds; ++i)
      std::printf("%-17s %8llu done %8llu cancelled\n", names[i], static_cast<unsigned long long>(_done[i]),
                  static_cast<unsigned long long>(_cancelled[i]));
  }
  [[nodiscard]] std::uint64_t done(kind what) const { return _done[what]; }
  [[nodiscard]] std::uint64_t cancelled(kind what) const { return _cancelled[what]; }
  [[nodiscard]] bool has_pool() const { return _pool != nullptr; }

 private:
  std::uint64_t below(std::uint64_t limit) { return _random() % limit; }
  int some_file() { return below(2) == 0 ? _file : _memory_file; }
  racer& any() { return _racers[below(_racers.size())]; }

  void fail(const char* what, const racer& op) {
    if (++_failures < 10) ADD_FAILURE() << names[op.what] << " " << what << "; result " << op.result();
  }

  // ------------------------------------------------------------------------------------------------- the engine's thread

  void start(racer& op) {
    if (--_left < 0) return;
    op.what = static_cast<kind>(below(kinds));
    if (!_pool && (op.what == pooled_receive || op.what == pooled_multishot)) op.what = pipe_read;
    op.asked = false;
    const std::span<const std::byte> out = std::span(_out).first(1 + below(_out.size()));
    switch (op.what) {
      case pipe_read:
        op.prepare_read(_pipe.first, op.buffer());
        break;
      case pipe_readv:
        op.vector = {op.memory.data(), buffer_size};
        op.prepare_readv(_blocking_pipe.first, std::span(&op.vector, 1));
        break;
      case pipe_poll:
        op.prepare_poll(_pipe.first, POLLIN);
        break;
      case socket_receive:
        op.prepare_recv(_socket.first, op.buffer());
        break;
      case socket_send:
        op.prepare_send(_socket.first, out);
        break;
      case zero_copy_send:
        op.prepare_send_zero_copy(_tcp.first, out);
        break;
      case pooled_receive:
        op.prepare_recv(_pooled.first, *_pool);
        break;
      case pooled_multishot:
        op.prepare_recv_multishot(_endless.first, *_pool);
        break;
      case file_read:
        op.prepare_read(some_file(), op.buffer(), below(file_size - buffer_size));
        break;
      case file_write:
        op.prepare_write(some_file(), std::span(_file_bytes).first(out.size()), below(file_size - buffer_size));
        break;
      case file_sync:
        op.prepare_fsync(_memory_file, true);
        break;
      case file_open:
        op.prepare_openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
        break;
      case timeout:
        op.prepare_timeout(std::chrono::steady_clock::now() + std::chrono::microseconds(below(4000)));
        break;
      default:
        op.prepare_nop();
    }
    if (!_io->submit(op)) fail("was refused", op);
    ++_submitted;
    if (below(3) == 0) order(op.what);
  }

  void cancel(racer& op) {
    if (!op.in_flight()) return;
    op.asked = true;
    if (!_io->cancel(op)) fail("is in flight, and cancel says that it is not", op);
  }

  /// The result of an operation that was not cancelled. Leaves the buffer as it was before.
  void judge(racer& op, int result) {
    switch (op.what) {
      case pipe_read:
        return receive(op, op.buffer(), letter('p'), _pipe_got);
      case pipe_readv:
        return receive(op, op.buffer(), letter('b'), _blocking_pipe_got);
      case socket_receive:
        return receive(op, op.buffer(), letter('s'), _socket_got);
      case pooled_receive:
        return receive_pooled(op, letter('q'), _pooled_got);
      case pooled_multishot:
        return receive_pooled(op, letter('m'), _endless_got);
      case file_read:
        receive(op, op.buffer(), letter('f'), _file_got);
        if (result != static_cast<int>(buffer_size)) fail("is short", op);
        return;
      case socket_send:
        return count(op, _socket_sent);
      case zero_copy_send:
        return count(op, _tcp_sent);
      case file_write:
        return count(op, _file_written);
      case pipe_poll:
        if (result != POLLIN) fail("gave other events", op);
        return;
      case file_open:
        if (result < 0) return fail("failed", op);
        ::close(result);
        return;
      case timeout:
        if (result != -ETIME) fail("failed", op);
        return;
      default:
        if (result != 0) fail("failed", op);
    }
  }

  void count(racer& op, std::uint64_t& sum) {
    if (op.result() <= 0) return fail("failed", op);
    sum += static_cast<std::uint64_t>(op.result());
  }

  void receive(racer& op, std::span<std::byte> buffer, std::byte expected, std::uint64_t& sum) {
    count(op, sum);
    if (op.result() <= 0) return;
    for (std::byte& each : buffer.first(static_cast<std::size_t>(op.result()))) {
      if (each != expected) return fail("gave bytes of somebody else", op);
      each = untouched;
    }
  }

  void receive_pooled(racer& op, std::byte expected, std::uint64_t& sum) {
    if (op.result() == -ENOBUFS) return;
    if (!op.has_buffer()) return fail("has no buffer", op);
    receive(op, _pool->data(op), expected, sum);
    _pool->give_back(op.buffer_id());
  }

  /// Asks the feeder for bytes; not if it has enough to do.
  void order(kind what) {
    constexpr std::array<char, kinds> whence{'p', 'b', 'p', 's', 0, 0, 'q', 'm'};
    if (whence[what] != 0) (void)!::write(_orders.second, &whence[what], 1);
  }

  void finish() {
    _draining = true;
    _io->drain();
    EXPECT_EQ(_io->in_flight(), 0U);
    EXPECT_EQ(_finished, _submitted);  // R1
    for (racer& each : _racers) EXPECT_FALSE(each.in_flight());
    if (_pool) {
      EXPECT_EQ(_pool->available(), _pool->count());  // R5
    }
    _orders.second.reset();
    _feeder.join();
    ::shutdown(_socket.first, SHUT_WR);
    ::shutdown(_tcp.first, SHUT_WR);
    for (std::jthread& each : _sinks) each.join();
    // R3
    EXPECT_EQ(_pipe_got + rest(_pipe.first), _pipe_fed);
    EXPECT_EQ(_blocking_pipe_got + rest(_blocking_pipe.first), _blocking_pipe_fed);
    EXPECT_EQ(_socket_got + rest(_socket.first), _socket_fed);
    EXPECT_EQ(_pooled_got + rest(_pooled.first), _pooled_fed);
    EXPECT_EQ(_endless_got + rest(_endless.first), _endless_fed);
    EXPECT_EQ(_socket_sent, _socket_sunk);
    EXPECT_EQ(_tcp_sent, _tcp_sunk);
  }

  static std::uint64_t rest(int fd) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    std::array<char, 4096> buffer{};
    std::uint64_t sum = 0;
    for (ssize_t got = 0; (got = ::read(fd, buffer.data(), buffer.size())) > 0;) sum += static_cast<std::uint64_t>(got);
    return sum;
  }

  // -------------------------------------------------------------------------------------------------- the other threads

  void feed() {
    std::array<char, 64> orders{};
    std::array<char, 2 * buffer_size> bytes{};
    std::size_t size = 0;
    for (ssize_t got = 0; (got = ::read(_orders.first, orders.data(), orders.size())) > 0;) {
      for (const char where : std::span(orders).first(static_cast<std::size_t>(got))) {
        size = size % (bytes.size() - 1) + 1;  // 1 to two buffers, in turn
        bytes.fill(where);
        const std::span<const char> piece = std::span(bytes).first(size);
        if (where == 'p') put(::write(_pipe.second, piece.data(), size), _pipe_fed);
        if (where == 'b') put(write_without_waiting(_blocking_pipe.second, piece), _blocking_pipe_fed);
        if (where == 's') put(::send(_socket.second, piece.data(), size, MSG_DONTWAIT), _socket_fed);
        if (where == 'q') put(::send(_pooled.second, piece.data(), size, MSG_DONTWAIT), _pooled_fed);
        if (where == 'm') put(::send(_endless.second, piece.data(), size, MSG_DONTWAIT), _endless_fed);
        if (size % 8 == 0) _io->wake();
      }
    }
  }

  static ssize_t write_without_waiting(int fd, std::span<const char> bytes) {
    const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    return ::pwritev2(fd, &piece, 1, -1, RWF_NOWAIT);
  }

  static void put(ssize_t written, std::uint64_t& sum) {
    if (written > 0) sum += static_cast<std::uint64_t>(written);  // or it was full
  }

  static void sink(int fd, std::uint64_t& sum) {
    std::array<char, 8> buffer{};  // slower than the sends, so that they have to wait
    for (ssize_t got = 0; (got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;)
      sum += static_cast<std::uint64_t>(got);
  }

  static constexpr std::size_t file_size = 64 * 1024;

  std::unique_ptr<engine> _io;
  std::unique_ptr<buffer_pool> _pool;
  std::mt19937_64 _random;
  fd_pair _pipe = make_pipe(O_CLOEXEC | O_NONBLOCK);
  fd_pair _blocking_pipe = make_pipe();
  fd_pair _socket = make_socketpair();
  fd_pair _pooled = make_socketpair();
  fd_pair _endless = make_socketpair();  // one multishot receive after the other: it never lets others have a turn
  fd_pair _tcp = make_tcp_pair();
  fd_pair _orders = [] {
    auto ends = make_pipe();
    ::fcntl(ends.second, F_SETFL, O_NONBLOCK);
    return ends;
  }();
  owned_fd _file = make_file(std::string(file_size, 'f'));
  owned_fd _memory_file{::memfd_create("faio_race", MFD_CLOEXEC)};
  std::array<std::byte, buffer_size> _out{};
  std::array<std::byte, buffer_size> _file_bytes = [] {
    std::array<std::byte, buffer_size> bytes{};
    bytes.fill(letter('f'));
    return bytes;
  }();
  std::deque<racer> _racers{200};
  int _left = 0;
  int _failures = 0;
  bool _draining = false;
  std::uint64_t _submitted = 0, _finished = 0;
  std::array<std::uint64_t, kinds> _done{}, _cancelled{};
  std::uint64_t _pipe_got = 0, _blocking_pipe_got = 0, _socket_got = 0, _pooled_got = 0, _endless_got = 0,
                _file_got = 0;
  std::uint64_t _socket_sent = 0, _tcp_sent = 0, _file_written = 0;
  // The other threads', until they are joined.
  std::uint64_t _pipe_fed = 0, _blocking_pipe_fed = 0, _socket_fed = 0, _pooled_fed = 0, _endless_fed = 0,
                _socket_sunk = 0, _tcp_sunk = 0;
  std::jthread _feeder;
  std::array<std::jthread, 2> _sinks;
};

racer::racer()
    : timeout_operation([](operation& op) noexcept {
        auto& self = static_cast<racer&>(op);
        self.owner->completed(self);
      }) {}

int rounds() {
  if (const char* given = std::getenv("FAIO_ROUNDS")) return std::atoi(given);
  return 1'000'000;
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

void run_races(std::unique_ptr<engine> io, int rounds) {
  const std::uint64_t seed = test_seed();
  std::printf("FAIO_SEED=%llu FAIO_ROUNDS=%d, %s\n", static_cast<unsigned long long>(seed), rounds,
              io->kind_reason().c_str());
  race race(std::move(io), seed);
  race.run(rounds);
  race.print();
  // A run that never met both ends of a race proves nothing about it.
  if (rounds < 50'000) return;
  for (const kind what :
       {pipe_read, pipe_readv, pipe_poll, socket_receive, pooled_receive, pooled_multishot, timeout}) {
    if (!race.has_pool() && (what == pooled_receive || what == pooled_multishot)) continue;
    EXPECT_GT(race.done(what), 20U) << names[what];
    EXPECT_GT(race.cancelled(what), 20U) << names[what];
  }
  for (const kind what : {socket_send, zero_copy_send, file_read, file_write, file_sync, file_open, nop})
    EXPECT_GT(race.done(what), 20U) << names[what];
}

class RaceTest : public ::testing::TestWithParam<engine_kind> {};
FAIO_FOR_IO_KINDS(RaceTest);

TEST_P(RaceTest, LosesNothingRepeatsNothingAndTouchesNothing) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto before = open_descriptors();
  run_races(make_engine({.kind = GetParam(), .ring_entries = 32}), rounds());
  EXPECT_EQ(open_descriptors(), before);  // R5
}

#ifdef FAIO_TEST_INSIDE
// The flags of 5.18 and before: completions at any time, and lists where newer kernels cancel everything at once.
TEST(RaceTest, HoldsWithTheFlagsOfOldKernels) {
  if (!engine::create({.kind = engine_kind::uring})) GTEST_SKIP() << "io_uring is not allowed here";
  for (const std::size_t skip : {1U, 2U, 4U}) {
    const engine_options options{.kind = engine_kind::uring, .ring_entries = 32};
    auto made = std::make_unique<detail::uring_engine>(options);
    const auto opened = made->open(options, skip);
    ASSERT_TRUE(opened) << opened.error().message;
    run_races(std::move(made), rounds() / 10);
  }
}
#endif

}  // namespace
}  // namespace faio::ioengine::testing
