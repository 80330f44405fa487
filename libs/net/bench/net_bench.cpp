// net_bench -- what a round trip, a connection and a megabyte cost over loopback; nanoseconds an element.
//
// Isolates net and what is beneath it, on both engines: one runtime for each figure, made before the clock starts. Beside the round trips stand
// two threads with blocking sockets, the plainest program that does the same: it shows what the kernel alone takes.
// Leaves out: a network. Loopback is the kernel's memory; what is measured is calls, wake-ups and scheduling.
#include <benchmark/benchmark.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bars.hpp"
#include "faio/context/context.hpp"
#include "faio/net/net.hpp"

namespace {

using namespace faio;
using namespace faio::net;

constexpr int trips = 1000;  // for each block_on, on each connection

template <class Given>
Given must(result<Given> got) {
  if (!got) {
    std::fprintf(stderr, "net_bench: %s\n", got.error().message().c_str());
    std::abort();
  }
  return std::move(*got);
}

struct connection {
  tcp_stream client;
  tcp_stream server;
};

std::vector<connection> connect(runtime_context& ctx, std::size_t count) {
  auto listener = must(tcp_listener::bind(endpoint::loopback(0)));
  return ctx.block_on([&]() -> task<std::vector<connection>> {
    std::vector<connection> all;
    for (std::size_t i = 0; i < count; ++i) {
      auto [client, server] = co_await when_all(tcp_stream::connect(listener.local()), listener.accept());
      all.push_back({must(std::move(client)), must(std::move(server))});
      (void)all.back().client.set_no_delay();  // over loopback it matters little
      (void)all.back().server.set_no_delay();
    }
    co_return all;
  });
}

task<> echo(tcp_stream& peer, int times) {
  std::array<std::byte, 64> one{};
  for (int i = 0; i < times; ++i) {
    (void)co_await peer.read_exactly(one);
    (void)co_await peer.write_all(std::span<const std::byte>(one));
  }
}
task<> ask(tcp_stream& peer, int times) {
  std::array<std::byte, 64> one{};
  for (int i = 0; i < times; ++i) {
    (void)co_await peer.write_all(std::span<const std::byte>(one));
    (void)co_await peer.read_exactly(one);
  }
}

/// Each element: 64 bytes there and back, on one of so many connections that are all busy.
void round_trips(benchmark::State& state, engine_kind engine, std::size_t workers, std::size_t connections) {
  runtime_context ctx{{.workers = workers, .engine = engine}};
  auto all = connect(ctx, connections);
  for (auto _ : state) {
    ctx.block_on([&]() -> task<> {
      task_group group;
      for (auto& each : all) {
        group.spawn(echo(each.server, trips));
        group.spawn(ask(each.client, trips));
      }
      co_await group.join();
    });
  }
  state.SetItemsProcessed(state.iterations() * trips * static_cast<std::int64_t>(connections));
}

/// The same with one connection, two threads and blocking calls.
void plain_round_trips(benchmark::State& state) {
  runtime_context ctx{{.workers = 1}};
  auto all = connect(ctx, 1);
  const auto move = [](int fd, bool first) {
    std::array<char, 64> one{};
    for (int i = 0; i < trips; ++i) {
      if (first && ::send(fd, one.data(), one.size(), 0) < 0) std::abort();
      if (::recv(fd, one.data(), one.size(), MSG_WAITALL) < 0) std::abort();
      if (!first && ::send(fd, one.data(), one.size(), 0) < 0) std::abort();
    }
  };
  for (auto _ : state) {
    std::thread other(move, all[0].server.native_handle(), false);
    move(all[0].client.native_handle(), true);
    other.join();
  }
  state.SetItemsProcessed(state.iterations() * trips);
}

/// Each element: a connection made, accepted, and closed by both. Of unix sockets: those of TCP would use up the ports.
void accepts(benchmark::State& state, engine_kind engine, std::size_t workers) {
  runtime_context ctx{{.workers = workers, .engine = engine}};
  auto listener = must(unix_listener::bind(must(endpoint::unix_path("@faio-net-bench-" + std::to_string(::getpid())))));
  for (auto _ : state) {
    ctx.block_on([&]() -> task<> {
      task_group group;
      group.spawn([](unix_listener& from) -> task<> {
        for (int i = 0; i < trips; ++i) benchmark::DoNotOptimize(must(co_await from.accept()));
      }(listener));
      for (int i = 0; i < trips; ++i) benchmark::DoNotOptimize(must(co_await unix_stream::connect(listener.local())));
      co_await group.join();
    });
  }
  state.SetItemsProcessed(state.iterations() * trips);
}

/// Each element: a mebibyte from one task to another.
void megabytes(benchmark::State& state, engine_kind engine) {
  constexpr std::size_t mebibyte = 1 << 20;
  constexpr int count = 64;
  runtime_context ctx{{.workers = 2, .engine = engine}};
  auto all = connect(ctx, 1);
  const std::string sent(mebibyte, 'm');
  std::vector<std::byte> got(mebibyte);
  for (auto _ : state) {
    ctx.block_on([&]() -> task<> {
      task_group group;
      group.spawn([](tcp_stream& to, const std::string& what) -> task<> {
        for (int i = 0; i < count; ++i) (void)co_await to.write_all(what);
      }(all[0].client, sent));
      for (int i = 0; i < count; ++i) (void)co_await all[0].server.read_exactly(got);
      co_await group.join();
    });
  }
  state.SetItemsProcessed(state.iterations() * count);
}

template <class... Args, class Function>
void add(const std::string& name, Function function, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { function(state, args...); })->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  add("round trip/threads that block", plain_round_trips);
  for (const auto engine : {engine_kind::uring, engine_kind::epoll}) {
    const std::string on = "/" + std::string(to_string(engine));
    add("round trip/1 connection, 1 worker" + on, round_trips, engine, std::size_t{1}, std::size_t{1});
    add("round trip/64 connections, 1 worker" + on, round_trips, engine, std::size_t{1}, std::size_t{64});
    add("round trip/64 connections, 2 workers" + on, round_trips, engine, std::size_t{2}, std::size_t{64});
    add("accept/1 worker" + on, accepts, engine, std::size_t{1});
    add("mebibyte" + on, megabytes, engine);
  }
  constexpr faio::bench::bar told[] = {
      {"a round trip against threads that block", "round trip/1 connection, 1 worker/uring",
       "round trip/threads that block"},
      {"a round trip among 64 against one alone", "round trip/64 connections, 1 worker/uring",
       "round trip/1 connection, 1 worker/uring"},
  };
  return faio::bench::run(argc, argv, told);
}
