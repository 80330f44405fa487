// compare_asio_epoll, compare_asio_uring -- a TCP server with Boost.Asio: a coroutine for each connection, one io_context that as many
// threads run as the others have workers. Which of the two: BOOST_ASIO_HAS_IO_URING with BOOST_ASIO_DISABLE_EPOLL.
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/program.hpp"
#include "common/reply.hpp"

namespace compare {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<void> serve(tcp::socket client) {
  std::array<char, request_room> room;
  for (;;) {
    boost::system::error_code error;
    const std::size_t got =
        co_await client.async_read_some(asio::buffer(room), asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    const std::string_view bytes(room.data(), got);
    if (!ends_request(bytes)) continue;
    if (asks_to_compute(bytes)) compute_for_a_millisecond();
    co_await asio::async_write(client, asio::buffer(reply), asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
  }
}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor) {
  for (;;) {
    tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
    client.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), serve(std::move(client)), asio::detached);
  }
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  options wanted(argc, argv);
  if (wanted.workload != "responder") fail("no workload " + wanted.workload);
  const auto port = static_cast<std::uint16_t>(wanted.number("port", 0));
  const std::size_t workers = wanted.number("workers", 2);
  wanted.all_asked();
  asio::io_context context(static_cast<int>(workers));
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), port});
  report().add("port", acceptor.local_endpoint().port()).print();
  asio::co_spawn(context, accept_all(acceptor), asio::detached);
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([&] { context.run(); });
  context.run();
}
