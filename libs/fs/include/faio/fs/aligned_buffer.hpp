// aligned_buffer -- memory for direct I/O: the kernel copies nothing, so address, length and offset are multiples of the device's block.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>

namespace faio::fs {

/// Move-only; zeroed. 4096 serves nearly every device.
class aligned_buffer {
 public:
  static constexpr std::size_t default_alignment = 4096;

  /// `size` is rounded up to a multiple of the alignment, a power of two; anything else is std::invalid_argument.
  explicit aligned_buffer(std::size_t size, std::size_t alignment = default_alignment)
      : _bytes(allocate(size, alignment), release{alignment}), _size(rounded(size, alignment)) {}

  [[nodiscard]] std::byte* data() const noexcept { return _bytes.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return _size; }
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {_bytes.get(), _size}; }
  operator std::span<std::byte>() const noexcept { return span(); }        // NOLINT(google-explicit-constructor)
  operator std::span<const std::byte>() const noexcept { return span(); }  // NOLINT(google-explicit-constructor)

 private:
  struct release {
    std::size_t alignment;
    void operator()(std::byte* bytes) const noexcept { ::operator delete[](bytes, std::align_val_t{alignment}); }
  };
  static std::size_t rounded(std::size_t size, std::size_t alignment) noexcept {
    return (size + alignment - 1) & ~(alignment - 1);
  }
  static std::byte* allocate(std::size_t size, std::size_t alignment) {
    if (!std::has_single_bit(alignment)) throw std::invalid_argument("faio: an alignment must be a power of two");
    return ::new (std::align_val_t{alignment}) std::byte[rounded(size, alignment)]();
  }
  std::unique_ptr<std::byte[], release> _bytes;
  std::size_t _size;
};

}  // namespace faio::fs
