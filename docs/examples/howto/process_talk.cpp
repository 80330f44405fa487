// process_talk -- a conversation with a child through its pipes.
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/process/process.hpp>
#include <string>

namespace process = faio::process;

faio::task<bool> program() {
  process::command upper("sh", "-c", "while read -r line; do echo \"$line, $GREETING\"; done");
  upper.in = process::stdio::pipe;
  upper.out = process::stdio::pipe;
  upper.set_variable("GREETING", "too");
  auto child = co_await process::child::spawn(std::move(upper));
  if (!child) co_return false;

  std::string all;
  for (const char* each : {"you\n", "me\n"}) {
    auto sent = co_await child->in().write_all(each);
    if (!sent) co_return false;
    auto answer = co_await child->out().read_until("\n");
    if (!answer) co_return false;
    all += *answer;
  }
  auto status = co_await child->wait();  // closes in() first: the child reads to the end, and goes
  std::printf("%s", all.c_str());
  co_return status && status->success() && all == "you, too\nme, too\n";
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  return ctx.block_on(program()) ? 0 : 1;
}
