// command -- what a child is to run: program, arguments, environment, working directory, and its three standard streams.
#pragma once

#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faio/process/export.hpp"

namespace faio::process {

/// Where a standard stream of a child comes from, or goes to.
class stdio {
 public:
  /// As in this process.
  static const stdio inherit;
  /// /dev/null.
  static const stdio null;
  /// A pipe, whose other end the `child` has.
  static const stdio pipe;
  /// A descriptor of this process, which stays its own. Open until the child has been spawned.
  static constexpr stdio descriptor(int fd) noexcept { return stdio(fd); }

  friend constexpr bool operator==(stdio, stdio) = default;
  [[nodiscard]] constexpr int fd() const noexcept { return _fd; }

 private:
  explicit constexpr stdio(int fd) noexcept : _fd(fd) {}
  int _fd;
};
inline constexpr stdio stdio::inherit{-1};
inline constexpr stdio stdio::null{-2};
inline constexpr stdio stdio::pipe{-3};

///     process::command list("ls", "-l");
///     list.directory = "/tmp";
///     list.out = process::stdio::pipe;
struct command {
  template <std::convertible_to<std::string>... Arguments>
  explicit command(std::string what, Arguments&&... with)
      : program(std::move(what)), arguments{std::string(std::forward<Arguments>(with))...} {}
  command(std::string what, std::vector<std::string> with) : program(std::move(what)), arguments(std::move(with)) {}

  /// This process' environment, with that variable set.
  FAIO_PROCESS_API void set_variable(std::string_view name, std::string_view value);

  std::string program;                 ///< searched for in this process' PATH, unless there is a slash in it
  std::vector<std::string> arguments;  ///< without the program's own name
  std::optional<std::vector<std::string>> environment;  ///< "NAME=value"; none: this process'
  std::filesystem::path directory;                      ///< empty: this process'
  stdio in = stdio::inherit;
  stdio out = stdio::inherit;
  stdio err = stdio::inherit;
};

}  // namespace faio::process
