// responder -- the limit: what a server written straight against liburing reaches. A ring and a listening socket for each thread.
//
//   plain      one receive and one send at a time for each connection
//   multishot  one multishot receive for each connection into a ring of provided buffers; the sends' completions are skipped
#include "workloads.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "common/reply.hpp"
#include "ring.hpp"

namespace compare {
namespace {

enum class event : std::uint64_t { accepted, received, sent };

/// What an entry carries: the event, and the connection's descriptor.
std::uint64_t tagged(event what, int fd) {
  return (static_cast<std::uint64_t>(fd) << 8) | static_cast<std::uint64_t>(what);
}

class server {
 public:
  server(int listener, bool multishot) : _listener(listener), _multishot(multishot) {}

  void run() {
    make_ring(_ring, 1024);
    if (_multishot) provide_buffers();
    accept_next();
    for (;;) {
      const int got = io_uring_submit_and_wait(&_ring, 1);
      if (got < 0 && got != -EINTR) fail(std::string("io_uring: ") + std::strerror(-got));
      unsigned head = 0;
      unsigned seen = 0;
      io_uring_cqe* done = nullptr;
      io_uring_for_each_cqe(&_ring, head, done) {
        handle(*done);
        ++seen;
      }
      io_uring_cq_advance(&_ring, seen);
    }
  }

 private:
  static constexpr unsigned buffers = 1024;
  static constexpr unsigned short group = 0;

  struct connection {
    std::array<char, request_room> room;
  };

  // liburing 2.3 has no io_uring_setup_buf_ring: the call that it wraps.
  void provide_buffers() {
    _buffer_bytes = std::make_unique<char[]>(std::size_t{buffers} * request_room);
    void* const memory =
        mmap(nullptr, buffers * sizeof(io_uring_buf), PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    if (memory == MAP_FAILED) fail("no memory for the buffer ring");
    _buffers = static_cast<io_uring_buf_ring*>(memory);
    io_uring_buf_reg about{};
    about.ring_addr = reinterpret_cast<std::uint64_t>(_buffers);
    about.ring_entries = buffers;
    about.bgid = group;
    const int failed = io_uring_register_buf_ring(&_ring, &about, 0);
    if (failed != 0) fail(std::string("buffer ring: ") + std::strerror(-failed));
    for (unsigned i = 0; i < buffers; ++i) give_back(static_cast<unsigned short>(i));
  }
  [[nodiscard]] char* buffer(unsigned short id) const { return _buffer_bytes.get() + std::size_t{id} * request_room; }
  void give_back(unsigned short id) {
    io_uring_buf_ring_add(_buffers, buffer(id), request_room, id, buffers - 1, 0);
    io_uring_buf_ring_advance(_buffers, 1);
  }

  void accept_next() {
    auto& entry = next_entry(_ring);
    io_uring_prep_multishot_accept(&entry, _listener, nullptr, nullptr, SOCK_CLOEXEC);
    entry.user_data = tagged(event::accepted, _listener);
  }
  void receive(int fd) {
    auto& entry = next_entry(_ring);
    if (_multishot) {
      io_uring_prep_recv(&entry, fd, nullptr, 0, 0);
      entry.ioprio |= IORING_RECV_MULTISHOT;
      entry.flags |= IOSQE_BUFFER_SELECT;
      entry.buf_group = group;
    } else {
      if (_connections.size() <= static_cast<std::size_t>(fd)) _connections.resize(static_cast<std::size_t>(fd) + 1);
      auto& of = _connections[static_cast<std::size_t>(fd)];
      if (of == nullptr) of = std::make_unique<connection>();
      io_uring_prep_recv(&entry, fd, of->room.data(), of->room.size(), 0);
    }
    entry.user_data = tagged(event::received, fd);
  }
  void send_reply(int fd) {
    auto& entry = next_entry(_ring);
    io_uring_prep_send(&entry, fd, reply.data(), reply.size(), MSG_NOSIGNAL);
    if (_multishot) entry.flags |= IOSQE_CQE_SKIP_SUCCESS;
    entry.user_data = tagged(event::sent, fd);
  }

  void handle(const io_uring_cqe& done) {
    const int fd = static_cast<int>(done.user_data >> 8);
    switch (static_cast<event>(done.user_data & 0xff)) {
      case event::accepted:
        if (done.res >= 0) {
          set_no_delay(done.res);
          receive(done.res);
        }
        if ((done.flags & IORING_CQE_F_MORE) == 0) accept_next();
        return;
      case event::received:
        received(fd, done);
        return;
      case event::sent:
        if (!_multishot && done.res > 0) receive(fd);
        return;
    }
  }
  void received(int fd, const io_uring_cqe& done) {
    if (done.res == -ENOBUFS) {
      receive(fd);
      return;
    }
    if (done.res <= 0) {
      close(fd);
      return;
    }
    const auto id = static_cast<unsigned short>(done.flags >> IORING_CQE_BUFFER_SHIFT);
    const char* const from = _multishot ? buffer(id) : _connections[static_cast<std::size_t>(fd)]->room.data();
    const std::string_view bytes(from, static_cast<std::size_t>(done.res));
    const bool whole = ends_request(bytes);
    if (whole && asks_to_compute(bytes)) compute_for_a_millisecond();
    if (whole) send_reply(fd);
    if (_multishot) {
      give_back(id);
      if ((done.flags & IORING_CQE_F_MORE) == 0) receive(fd);
    } else if (!whole) {
      receive(fd);
    }
  }

  io_uring _ring{};
  int _listener;
  bool _multishot;
  io_uring_buf_ring* _buffers = nullptr;
  std::unique_ptr<char[]> _buffer_bytes;
  std::vector<std::unique_ptr<connection>> _connections;  // by descriptor
};

}  // namespace

void responder(options& wanted) {
  auto port = static_cast<std::uint16_t>(wanted.number("port", 0));
  const bool multishot = wanted.number("multishot", 0) != 0;
  const std::size_t workers = wanted.number("workers", 2);
  wanted.all_asked();
  std::vector<std::jthread> threads;
  std::vector<int> listeners;
  for (std::size_t i = 0; i < workers; ++i) listeners.push_back(listen_on(port));
  report().add("port", port).print();
  for (const int listener : listeners) threads.emplace_back([=] { server(listener, multishot).run(); });
}

}  // namespace compare
