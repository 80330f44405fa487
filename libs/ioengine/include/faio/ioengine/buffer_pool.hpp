// buffer_pool -- buffers of one size that the engine takes when data is there, not when somebody begins to wait.
//
//   [ 0 ][ 1 ][ 2 ] .. [ n-1 ]   free: with the kernel (uring) or in a stack (epoll)
//        taken: from a completion with has_buffer() until give_back(id)
//
// Invariants
//   I1 A buffer is free or taken, never both: give_back of one that is not taken is an assert, and ignored in release.
//   I2 A buffer that an operation took for nothing (an error, a cancellation, the end of the stream) is given back by the
//      engine before the completion function runs: has_buffer() is true only with result() > 0.
//                                                              BufferPoolTest.GetsItsBuffersBackWhenOperationsAreCancelled
//   I3 When all are taken, a receive ends with -ENOBUFS; it does not wait for one.   BufferPoolTest.SaysWhenItIsUsedUp
//
// Thread roles: everything here is for the thread that owns the engine. A buffer's bytes may be read anywhere until it is given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "faio/ioengine/export.hpp"
#include "faio/ioengine/operation.hpp"
#include "faio/ioengine/result.hpp"

namespace faio::ioengine {

class engine;

struct buffer_pool_options {
  /// A power of two, 1 to 32768.
  std::uint32_t count = 256;
  /// Bytes of each.
  std::uint32_t size = 4096;
};

class FAIO_IOENGINE_API buffer_pool {
 public:
  /// Owner only. invalid_argument: count or size; operation_not_supported: the thread engine, or a kernel before 5.19;
  /// not_enough_memory.
  [[nodiscard]] static result<std::unique_ptr<buffer_pool>> create(engine& owner,
                                                                   const buffer_pool_options& options = {});

  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  /// Owner only, before the engine goes away, and with no operation in flight that uses the pool.
  ~buffer_pool();

  /// Owner only. The data of a completion with has_buffer().
  [[nodiscard]] std::span<std::byte> data(const operation& completed) noexcept {
    return {buffer(completed.buffer_id()), static_cast<std::size_t>(completed.result())};
  }

  /// Owner only. Makes a taken buffer free again.
  void give_back(std::uint16_t id) noexcept;

  /// Owner only. How many are not taken.
  [[nodiscard]] std::size_t available() const noexcept { return _count - _taken_count; }
  [[nodiscard]] std::size_t count() const noexcept { return _count; }
  [[nodiscard]] std::size_t buffer_size() const noexcept { return _size; }

  // ---------------------------------------------------------------------------------------- end of the public interface

 private:
  friend struct pool_access;
  buffer_pool(engine& owner, const buffer_pool_options& options);

  [[nodiscard]] std::byte* buffer(std::uint16_t id) noexcept { return _memory.get() + std::size_t{id} * _size; }
  void make_free(std::uint16_t id) noexcept;
  void hide(std::uint16_t id) noexcept;

  engine& _engine;
  std::uint32_t _count;
  std::uint32_t _size;
  std::uint16_t _group = 0;      // uring: its name there
  void* _ring = nullptr;         // uring: the ring of free buffers, shared with the kernel
  std::uint16_t _ring_tail = 0;  // uring: the owner's copy of the ring's tail
  std::size_t _taken_count = 0;
  std::vector<std::uint16_t> _free;  // epoll
  std::vector<bool> _taken;
  std::unique_ptr<std::byte[]> _memory;
};

}  // namespace faio::ioengine
