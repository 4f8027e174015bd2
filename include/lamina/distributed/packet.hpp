// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/packet.hpp - a message whose length its receiver does not know.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// A buffer that begins at a multiple of 64 bytes. New bytes are not initialised.
class packet {
 public:
  packet() = default;
  packet(packet&& other) noexcept { swap(other); }
  packet& operator=(packet&& other) noexcept {
    swap(other);
    return *this;
  }
  packet(const packet&) = delete;
  packet& operator=(const packet&) = delete;
  ~packet() { ::operator delete(data_, alignment); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Sets the number of bytes and keeps the first ones.
  LAMINA_COLD void resize(std::size_t bytes) {
    if (bytes > capacity_) {
      const std::size_t more = bytes > 2 * capacity_ ? bytes : 2 * capacity_;
      std::byte* const larger = static_cast<std::byte*>(::operator new(more, alignment));
      if (size_ > 0) std::memcpy(larger, data_, size_);
      ::operator delete(data_, alignment);
      data_ = larger;
      capacity_ = more;
    }
    size_ = bytes;
  }
  /// Appends bytes.
  LAMINA_COLD void add(const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    const std::size_t before = size_;
    resize(before + bytes);
    std::memcpy(data_ + before, from, bytes);
  }
  template <class T>
  void add(const T& number) {
    add(&number, sizeof number);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  void swap(packet& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  std::byte* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// Reads the bytes of a packet in order. Throws lamina::error at the end of the packet.
class packet_reader {
 public:
  explicit packet_reader(const packet& from) : from_(from) {}

  /// Returns the next bytes, in the memory of the packet.
  LAMINA_COLD const std::byte* take(std::size_t bytes) {
    if (bytes > from_.size() - at_)
      throw error("lamina: distributed: expected a longer message, found its end");
    const std::byte* const here = from_.data() + at_;
    at_ += bytes;
    return here;
  }
  void read(void* to, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, take(bytes), bytes);
  }
  template <class T>
  T read() {
    T number;
    read(&number, sizeof number);
    return number;
  }
  std::size_t left() const { return from_.size() - at_; }

 private:
  const packet& from_;
  std::size_t at_ = 0;
};

}}}  // namespace lamina::distributed
