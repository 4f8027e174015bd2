// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/data_range.hpp - the layout of a mini-batch in one range of memory: its
// data and its sequence offsets. The host fills the range and copies it to the device at once.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>

#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The byte offsets in the range of all data and sequence offsets of a run of program P. They
/// depend on the numbers of rows.
template <class P>
class data_range {
 public:
  static constexpr int data_count = counts_of<P>.data;
  static constexpr int domains = counts_of<P>.domains;

  data_range() = default;
  explicit data_range(const int* rows) {
    for (int i = 0; i < data_count; ++i) data_[i] = take(bytes_of(i, rows));
    for (int d = batch::domain; d < domains; ++d)
      if (layout.parent[d] != 0) offsets_[d] = take(bytes_of_offsets(d, rows));
  }

  std::size_t size() const { return size_; }
  std::size_t data(int i) const { return data_[i]; }
  std::size_t offsets(int domain) const { return offsets_[domain]; }
  /// Whether a domain has sequences whose offsets are fed.
  static constexpr bool has_offsets(int domain) { return layout.parent[domain] != 0; }

  /// Copies all sequence offsets, and the data in the bit mask `given` (one bit per data variable),
  /// to the range at `to`.
  void gather(char* to, unsigned long long given, const int* rows, const void* const* data,
              const int* const* offsets) const {
    for (int i = 0; i < data_count; ++i)
      if (const std::size_t n = bytes_of(i, rows);
          n != 0 && data[i] != nullptr && (given >> (i & 63) & 1ull) != 0)
        std::memcpy(to + data_[i], data[i], n);
    for (int d = batch::domain; d < domains; ++d) {
      if (!has_offsets(d)) continue;
      // The subtraction makes offsets start at 0: for a part of a mini-batch, `from` points into
      // the offsets of the whole mini-batch.
      int* const at = reinterpret_cast<int*>(to + offsets_[d]);
      const int* const from = offsets[d];
      for (int i = 0; i <= rows[layout.parent[d]]; ++i)
        at[i] = from == nullptr ? 0 : from[i] - from[0];
    }
  }

  /// Rounds a size up to a multiple of 256 bytes, the alignment of every array.
  static constexpr std::size_t aligned(std::size_t n) { return (n + 255) / 256 * 256; }

 private:
  /// Indexed by data variable: its bytes per row and its domain. `parent` is indexed by domain: the
  /// parent domain, which has one row per sequence, if the sequences are fed; otherwise 0.
  struct sizes {
    int row_bytes[bound(data_count)], domain[bound(data_count)];
    int parent[bound(domains)];
  };
  static constexpr sizes make_layout() {
    sizes s{};
    for (int i = 0; i < data_count; ++i) {
      const plan_variable& d = plan<P>::lowered.variables[P::desc.data[i]];
      s.row_bytes[i] = d.columns * size_of(d.type);
      s.domain[i] = domain_of_rows(d.rows);
    }
    for (int d = batch::domain; d < domains; ++d)
      if (plan<P>::fed.of[d] && P::desc.domains[d].kind == domain_kind::sequence)
        s.parent[d] = P::desc.domains[d].parent;
    return s;
  }
  static constexpr sizes layout = make_layout();

  static std::size_t bytes_of(int i, const int* rows) {
    const int d = layout.domain[i];
    return static_cast<std::size_t>(layout.row_bytes[i]) *
           static_cast<std::size_t>(d == 0 ? 1 : rows[d]);
  }
  static std::size_t bytes_of_offsets(int d, const int* rows) {
    return static_cast<std::size_t>(rows[layout.parent[d]] + 1) * sizeof(int);
  }
  std::size_t take(std::size_t bytes) {
    const std::size_t at = size_;
    size_ += aligned(bytes);
    return at;
  }

  std::size_t data_[bound(data_count)] = {};
  std::size_t offsets_[bound(domains)] = {};
  std::size_t size_ = 0;
};

/// Indexed by row domain: the floats per row that all arrays need together, and whether the rows
/// are fed.
template <int Domains>
struct domain_sizes {
  int width[bound(Domains)];
  bool fed[bound(Domains)];
};
template <class Plan>
constexpr auto find_domain_sizes() {
  domain_sizes<counts_of<typename Plan::program>.domains> s{};
  for (int d = batch::domain; d < counts_of<typename Plan::program>.domains; ++d) {
    s.width[d] = Plan::memory.arena_width[d];
    s.fed[d] = Plan::fed.of[d];
  }
  return s;
}

}}}  // namespace lamina::engine::cuda
