// stream_errors -- a sentence for each.
#include "faio/context/stream_errors.hpp"

#include <string>

namespace faio {
namespace {

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "faio.stream"; }
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<stream_errc>(value)) {
      case stream_errc::end_of_stream:
        return "the stream has ended before all that was asked for came";
      case stream_errc::too_long:
        return "more than the limit allows, or no delimiter within it";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& stream_error_category() noexcept {
  static const category one;
  return one;
}

}  // namespace faio
