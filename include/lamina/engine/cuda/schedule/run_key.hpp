// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/run_key.hpp - the key by which a captured CUDA graph is found: all
// data on which its launches depend.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Builds a key from the numbers of rows of the fed domains of program P and, with `Ranks`, the
/// offsets of its sequences. Equal keys mean equal launches.
template <class P, bool Ranks>
class run_key {
 public:
  /// Starts a new key with the caller's numbers.
  template <class... T>
  void begin(const T&... numbers) {
    key_.clear();
    (add(&numbers, 1), ...);
  }
  template <class Memory>
  void add_rows(Memory& memory) {
    for (int d = batch::domain; d < domains; ++d) {
      if (!plan<P>::fed.of[d]) continue;
      add(memory.rows() + d, 1);
      add(memory.first_rows() + d, 1);
    }
    if constexpr (Ranks)
      for (int d = batch::domain + 1; d < domains; ++d)
        if (const int* const offsets = memory.host_offsets()[d];
            offsets != nullptr && parents.of[d] >= 0)
          add(offsets, memory.rows()[parents.of[d]] + 1);
  }
  std::string_view view() const { return key_; }

 private:
  static constexpr int domains = counts_of<P>.domains;
  /// By domain: the parent domain, which has one row per sequence; -1 for a domain that is not fed
  /// or has no sequences. This is a separate table because a reference to P::desc would put the
  /// whole description of the program in the binary.
  struct parent_domains {
    int of[bound(domains)];
  };
  static constexpr parent_domains parents = [] {
    parent_domains r{};
    for (int d = 0; d < domains; ++d)
      r.of[d] = plan<P>::fed.of[d] && P::desc.domains[d].kind == domain_kind::sequence
                    ? P::desc.domains[d].parent
                    : -1;
    return r;
  }();

  template <class T>
  void add(const T* numbers, int count) {
    key_.append(reinterpret_cast<const char*>(numbers),
                static_cast<std::size_t>(count) * sizeof(T));
  }

  std::string key_;
};

}}}  // namespace lamina::engine::cuda
