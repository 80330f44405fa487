// stream -- two blocks that change places; small writes that are gathered.
#include "faio/fs/stream.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "faio/context/spawn.hpp"
#include "faio/context/stream_errors.hpp"

namespace faio::fs {
namespace {

using bytes = std::vector<std::byte>;

/// What was moved from, or closed.
std::unexpected<error> not_open(const char* doing, const std::string& path = {}) {
  return std::unexpected(error(std::make_error_code(std::errc::bad_file_descriptor), doing,
                               std::make_shared<const detail::subject>(path)));
}

/// All of the block, or up to the end of the file.
task<result<std::size_t>> read_block(const file& from, std::span<std::byte> into, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < into.size()) {
    auto more = co_await from.read_at(into.subspan(done), offset + done);
    if (!more) co_return std::unexpected(std::move(more).error());
    if (*more == 0) break;
    done += *more;
  }
  co_return done;
}

/// The file and the block stay as long as this does, whoever else has gone.
task<result<std::size_t>> read_ahead(std::shared_ptr<const file> from, std::shared_ptr<bytes> into,
                                     std::uint64_t offset) {
  co_return co_await read_block(*from, *into, offset);
}

/// A stop request for the one that waits is a result like any other.
task<result<std::size_t>> wait_for(join_handle<result<std::size_t>> ahead) {
  try {
    co_return co_await std::move(ahead);
  } catch (const std::system_error& stopped) {
    co_return std::unexpected(error(stopped.code()));
  }
}

}  // namespace

// ---- reader

struct reader::state {
  state(file of, stream_options options)
      : from(std::make_shared<const file>(std::move(of))),
        block(std::max<std::size_t>(options.block, 1)),
        next_offset(options.offset),
        current(std::make_shared<bytes>()) {}

  [[nodiscard]] std::span<const std::byte> left() const noexcept { return std::span(*current).subspan(used); }
  void use_up(std::size_t count) noexcept { used += count; }
  /// To the front of what is left.
  void put_back(std::span<const std::byte> bytes) {
    const auto begin = current->begin();
    current->erase(begin, begin + static_cast<std::ptrdiff_t>(std::exchange(used, 0)));
    current->insert(current->begin(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] error failed(std::error_code code) const {
    return {code, "read", std::make_shared<const detail::subject>(from->path())};
  }

  const std::shared_ptr<const file> from;
  const std::size_t block;
  std::uint64_t next_offset;       // behind all that was taken from the file
  std::shared_ptr<bytes> current;  // the block in use, or more than one: read_until
  std::size_t used = 0;            // of it
  std::shared_ptr<bytes> spare;    // for the next one
  std::shared_ptr<bytes> coming;   // what `ahead` reads into
  join_handle<result<std::size_t>> ahead;
};

reader::reader(file from, stream_options options) : _state(std::make_unique<state>(std::move(from), options)) {}
reader::reader(reader&&) noexcept = default;
reader& reader::operator=(reader&&) noexcept = default;
reader::~reader() = default;

task<result<reader>> reader::open(std::filesystem::path path, stream_options options) {
  auto opened = co_await file::open(std::move(path));
  if (!opened) co_return std::unexpected(std::move(opened).error());
  co_return reader(std::move(*opened), options);
}

/// More behind what is left. False: the file has ended.
task<result<bool>> reader::fill() {
  state& on = *_state;
  std::shared_ptr<bytes> block;
  result<std::size_t> got = 0;
  if (on.ahead.valid()) {
    block = std::move(on.coming);
    got = co_await wait_for(std::move(on.ahead));
    if (!got) block.reset();  // it may still be written to
    if (!got && got.error() != std::errc::operation_canceled) co_return std::unexpected(std::move(got).error());
  }
  if (block == nullptr) {
    block = on.spare != nullptr ? std::move(on.spare) : std::make_shared<bytes>();
    block->resize(on.block);
    got = co_await read_block(*on.from, *block, on.next_offset);
    if (!got) co_return std::unexpected(std::move(got).error());
  }
  block->resize(*got);
  on.next_offset += *got;
  if (on.left().empty()) {
    on.current.swap(block);
  } else {
    on.current->erase(on.current->begin(), on.current->begin() + static_cast<std::ptrdiff_t>(on.used));
    on.current->insert(on.current->end(), block->begin(), block->end());
  }
  on.used = 0;
  on.spare = std::move(block);
  if (*got == on.block) {  // less: the file ends there
    on.coming = std::move(on.spare);
    on.coming->resize(on.block);
    on.ahead = spawn(read_ahead(on.from, on.coming, on.next_offset));
  }
  co_return *got != 0;
}

task<result<std::span<const std::byte>>> reader::next_block() {
  if (_state == nullptr) co_return not_open("read");
  if (_state->left().empty()) {
    auto filled = co_await fill();
    if (!filled) co_return std::unexpected(std::move(filled).error());
  }
  const auto all = _state->left();
  _state->use_up(all.size());
  co_return all;
}

task<result<std::size_t>> reader::read_some(std::span<std::byte> into) {
  if (_state == nullptr) co_return not_open("read");
  if (_state->left().empty()) {
    auto filled = co_await fill();
    if (!filled) co_return std::unexpected(std::move(filled).error());
  }
  const auto from = _state->left().first(std::min(into.size(), _state->left().size()));
  if (!from.empty()) std::memcpy(into.data(), from.data(), from.size());
  _state->use_up(from.size());
  co_return from.size();
}

task<result<void>> reader::read_exactly(std::span<std::byte> into) {
  if (_state == nullptr) co_return not_open("read");
  for (std::size_t got = 0; got < into.size();) {
    auto more = co_await read_some(into.subspan(got));
    if (more && *more == 0) more = std::unexpected(_state->failed(make_error_code(stream_errc::end_of_stream)));
    if (!more) {
      _state->put_back(into.first(got));
      co_return std::unexpected(std::move(more).error());
    }
    got += *more;
  }
  co_return result<void>{};
}

task<result<std::string>> reader::read_until(std::string_view delimiter, std::size_t limit) {
  if (_state == nullptr) co_return not_open("read");
  for (std::size_t searched = 0;;) {
    const auto left = _state->left();
    const std::string_view text(reinterpret_cast<const char*>(left.data()), left.size());
    if (const auto at = text.find(delimiter, searched); at != text.npos && at + delimiter.size() <= limit) {
      std::string line(text.substr(0, at + delimiter.size()));
      _state->use_up(line.size());
      co_return line;
    }
    if (text.size() >= limit) co_return std::unexpected(_state->failed(make_error_code(stream_errc::too_long)));
    searched = text.size() < delimiter.size() ? 0 : text.size() - delimiter.size() + 1;
    auto filled = co_await fill();
    if (!filled) co_return std::unexpected(std::move(filled).error());
    if (!*filled) co_return std::unexpected(_state->failed(make_error_code(stream_errc::end_of_stream)));
  }
}

// ---- writer

writer::writer(file to, stream_options options)
    : _to(std::move(to)), _block(std::max<std::size_t>(options.block, 1)), _offset(options.offset) {}

task<result<writer>> writer::create(std::filesystem::path path, mode_t mode, stream_options options) {
  auto opened = co_await file::open(std::move(path), O_WRONLY | O_CREAT | O_TRUNC, mode);
  if (!opened) co_return std::unexpected(std::move(opened).error());
  co_return writer(std::move(*opened), options);
}

task<result<void>> writer::write_all(std::span<const std::byte> from) {
  if (!_to.is_open()) co_return not_open("write", _to.path());
  _kept.append(reinterpret_cast<const char*>(from.data()), from.size());
  if (_kept.size() < _block) co_return result<void>{};
  co_return co_await flush();
}

task<result<void>> writer::flush() {
  if (!_to.is_open()) co_return not_open("write", _to.path());
  auto wrote = co_await _to.write_all_at(_kept, _offset);
  if (!wrote) co_return wrote;
  _offset += _kept.size();
  _kept.clear();
  co_return result<void>{};
}

task<result<void>> writer::close() {
  auto flushed = co_await flush();
  if (!flushed) co_return flushed;
  co_return co_await _to.close();
}

}  // namespace faio::fs
