// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/peer_sum.hpp - the sum of arrays of several places, by copies between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/core/padding.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/whole_sum.hpp>

namespace lamina::engine::cuda {

/// Each place fetches its share of the array from all others, adds up in the order of the places,
/// and fetches the other shares from those who have added them: so each link carries twice what is
/// not a place's own, and the sum does not depend on what came first.
template <class Backend>
class peer_sum {
 public:
  /// Of arrays of so many floats, whole lines of 16.
  LAMINA_COLD peer_sum(std::vector<Backend*> places, std::size_t floats)
      : places_(std::move(places)), floats_(floats) {
    std::size_t most = 0;
    for (std::size_t t = 0; t < places_.size(); ++t) most = std::max(most, first(t + 1) - first(t));
    apart_ = static_cast<std::ptrdiff_t>(most);
    for (Backend* const to : places_) {
      for (Backend* const from : places_)
        if (to != from) to->reach(*from);
      others_.emplace_back(*to);
      others_.back().reserve((places_.size() - 1) * most * sizeof(float));
    }
  }

  /// arrays[t], at place t, becomes the sum of all of them. Every place has marked that its own is
  /// there. Task t of the pool works with place t; the sum is there for what follows on its stream.
  void add(worker_pool& pool, float* const* arrays) {
    if (places_.size() == 1 || floats_ == 0) return;
    pool.run([&](int t) { add_share(static_cast<std::size_t>(t), arrays); });
    pool.run([&](int t) { fetch_shares(static_cast<std::size_t>(t), arrays); });
  }

 private:
  /// Where the share of place t begins.
  std::size_t first(std::size_t t) const {
    constexpr auto line = static_cast<std::size_t>(alignment_floats);
    return floats_ / line * t / places_.size() * line;
  }
  void add_share(std::size_t t, float* const* arrays) {
    Backend& mine = *places_[t];
    const std::size_t begin = first(t), count = first(t + 1) - begin;
    float* const others = reinterpret_cast<float*>(others_[t].data());
    mine.use();
    float* to = others;
    for (std::size_t s = 0; s < places_.size(); ++s) {
      if (s == t) continue;
      mine.wait_for(*places_[s]);
      mine.copy_from(*places_[s], to, arrays[s] + begin, count * sizeof(float));
      to += apart_;
    }
    mine.template elements<detail::add_parts_body>(
        {arrays[t] + begin, others, apart_, static_cast<int>(places_.size()), static_cast<int>(t),
         static_cast<int>(count / static_cast<std::size_t>(pack_width))});
    mine.mark();
  }
  void fetch_shares(std::size_t t, float* const* arrays) {
    Backend& mine = *places_[t];
    mine.use();
    for (std::size_t s = 0; s < places_.size(); ++s) {
      if (s == t) continue;
      mine.wait_for(*places_[s]);
      mine.copy_from(*places_[s], arrays[t] + first(s), arrays[s] + first(s),
                     (first(s + 1) - first(s)) * sizeof(float));
    }
  }

  std::vector<Backend*> places_;
  std::size_t floats_;
  std::ptrdiff_t apart_ = 0;
  std::vector<device_buffer<Backend>> others_;  // by place: the shares of the others
};

}  // namespace lamina::engine::cuda
