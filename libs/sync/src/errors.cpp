// errors -- a sentence for each.
#include "faio/sync/errors.hpp"

#include <string>

namespace faio::sync {
namespace {

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "faio.sync"; }
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::closed:
        return "the channel is closed: nothing is sent any more, or everything was received";
      case errc::would_block:
        return "it would have to wait";
      case errc::lagged:
        return "this reader was too slow and has missed values; missed() says how many";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const category one;
  return one;
}

}  // namespace faio::sync
