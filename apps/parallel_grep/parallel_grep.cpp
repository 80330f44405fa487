// parallel_grep -- prints the lines with a given text in all files below some folders.
//
//   parallel_grep TEXT PATH...
//
//   walk ── paths ──> channel ──> 16 readers: read the file (I/O workers), search it (compute workers), print
//   progress: a bar on stderr, ten times a second, if that is a terminal
//
// Exit code, as grep's: 0 something was found, 1 nothing was, 2 something could not be read.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using std::filesystem::path;

/// What all tasks of one search share.
struct search {
  std::string text;
  faio::sync::channel<path> files{256};  // the walk waits when it is that far ahead
  std::atomic<std::size_t> found_files{0}, searched{0}, matches{0}, errors{0};
};

void complain(search& in, const faio::fs::error& why) {
  ++in.errors;
  std::fprintf(stderr, "parallel_grep: %s\n", why.message().c_str());
}

/// Sends every file below the given paths to the readers. Links are not followed: no way round in circles.
faio::task<> walk(search& in, std::vector<path> paths) {
  while (!paths.empty()) {
    const path here = std::move(paths.back());
    paths.pop_back();
    auto entries = co_await faio::fs::list(here);
    if (!entries && entries.error() == std::errc::not_a_directory) {
      ++in.found_files;
      co_await in.files.send(here);  // a file was named
      continue;
    }
    if (!entries) {
      complain(in, entries.error());
      continue;
    }
    for (const auto& each : *entries) {
      if (each.is_directory()) paths.push_back(here / each.name);
      if (!each.is_file()) continue;
      ++in.found_files;
      co_await in.files.send(here / each.name);
    }
  }
  in.files.close();
}

/// The lines with the text in them, as grep -n prints them.
std::string matching_lines(search& in, const path& file, std::string_view content) {
  std::string lines;
  std::size_t number = 1;
  std::size_t counted = 0;  // up to here the newlines are in `number`
  for (std::size_t at = content.find(in.text); at != content.npos; at = content.find(in.text, at)) {
    if (content.find('\0') != content.npos) {
      ++in.matches;
      return file.string() + ": binary file matches\n";
    }
    const std::size_t begin = at == 0 ? 0 : content.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    const std::size_t end = std::min(content.find('\n', at), content.size());
    number += static_cast<std::size_t>(std::count(content.begin() + static_cast<std::ptrdiff_t>(counted),
                                                  content.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    counted = begin;
    lines += file.string() + ':' + std::to_string(number) + ':';
    lines += content.substr(begin, end - begin);
    lines += '\n';
    ++in.matches;
    at = end;  // once a line
  }
  return lines;
}

/// One of several: takes files until there are no more.
faio::task<> read_and_search(search& in) {
  while (auto file = co_await in.files.recv()) {
    const auto content = co_await faio::fs::read_file(*file);
    if (content) {
      const auto look = [&] { return matching_lines(in, *file, *content); };
      const std::string lines = co_await faio::compute(look);  // meanwhile this worker reads for the others
      std::fwrite(lines.data(), 1, lines.size(), stdout);
    } else {
      complain(in, content.error());
    }
    ++in.searched;
  }
}

/// Until it is stopped. Says nothing into a file or a pipe.
faio::task<> show_progress(const search& in) {
  if (::isatty(STDERR_FILENO) == 0) co_return;
  constexpr std::size_t width = 40;
  for (faio::interval beat(100ms); co_await beat.tick();) {
    const std::size_t full = width * in.searched / std::max<std::size_t>(in.found_files, 1);
    std::fprintf(stderr, "\r[%s%s] %zu of %zu files, %zu lines", std::string(full, '#').c_str(),
                 std::string(width - full, '.').c_str(), in.searched.load(), in.found_files.load(), in.matches.load());
  }
  std::fprintf(stderr, "\r\033[K");
}

faio::task<int> run(std::string text, std::vector<path> paths) {
  search all{.text = std::move(text)};
  auto progress = faio::spawn(show_progress(all));
  faio::task_group group;
  group.spawn(walk(all, std::move(paths)));
  for (int i = 0; i < 16; ++i) group.spawn(read_and_search(all));
  co_await group.join();
  progress.request_stop();
  co_await std::move(progress);
  co_return all.errors > 0 ? 2 : all.matches > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3 || *words[1] == '\0') {
    std::fputs("usage: parallel_grep TEXT PATH...\n", stderr);
    return 2;
  }
  return faio::block_on(run(words[1], std::vector<path>(words + 2, words + count)));
}
