// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/peer_rows.hpp - sums of gradients of rows of several places, by copies between
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/selected_rows_kernels.hpp>

namespace lamina::engine::cuda {

/// Each place fetches the rows of all others, puts their numbers in order, and adds up the rows of
/// equal ones in the order of the places: so all of them have the same bits. What is exchanged are
/// the rows that mini-batches chose, never whole tables.
template <class Backend>
class peer_rows {
 public:
  /// Of gradients of `tables` parameters.
  LAMINA_COLD peer_rows(std::vector<Backend*> places, std::size_t tables)
      : places_(std::move(places)) {
    if (tables == 0) return;
    for (Backend* const to : places_) {
      for (Backend* const from : places_)
        if (to != from) to->reach(*from);
      own_.emplace_back(*to, tables);
    }
  }

  /// sums(t)[k] becomes the sum of rows[s][k] over all places s, each of which has marked that its
  /// own are there. What comes next on the stream of place t may read it.
  void add(std::size_t t, const std::vector<std::vector<selected_rows>>& rows) {
    Backend& mine = *places_[t];
    memory& own = own_[t];
    const std::size_t tables = own.sums.size();
    std::size_t gathered = 0, sums = 0, scratch = 0;
    for (std::size_t k = 0; k < tables; ++k) {
      selected_rows& sum = own.sums[k] = rows[t][k];
      sum.count = 0;
      std::size_t floats = 0;
      for (const auto& of_place : rows) {
        sum.count += of_place[k].count;
        floats += floats_of(of_place[k]);
      }
      sum.room = sum.count;
      gathered = std::max(gathered, floats);
      sums += floats_of(sum);
      scratch = std::max(scratch,
                         static_cast<std::size_t>(detail::entry_sum_scratch<Backend>(sum.count)));
    }
    own.gathered.reserve(gathered * sizeof(float));
    own.added.reserve(sums * sizeof(float));
    own.scratch.reserve(scratch * sizeof(float));
    for (std::size_t s = 0; s < places_.size(); ++s)
      if (s != t) mine.wait_for(*places_[s]);
    float* to = reinterpret_cast<float*>(own.added.data());
    std::vector<selected_rows> addends(places_.size());
    for (std::size_t k = 0; k < tables; ++k) {
      selected_rows& sum = own.sums[k];
      to = place_rows(sum, to);
      float* at = reinterpret_cast<float*>(own.gathered.data());
      for (std::size_t s = 0; s < places_.size(); ++s) {
        addends[s] = rows[s][k];
        at = place_rows(addends[s], at);
        fetch(mine, s == t ? nullptr : places_[s], rows[s][k], addends[s]);
      }
      detail::sum_selected_rows(
          mine, [&](int s) -> const selected_rows& { return addends[static_cast<std::size_t>(s)]; },
          static_cast<int>(addends.size()), sum, reinterpret_cast<float*>(own.scratch.data()));
    }
  }
  /// By table.
  const std::vector<selected_rows>& sums(std::size_t place) const { return own_[place].sums; }

 private:
  /// What a place has: the rows of all places of one table, the sums of all tables.
  struct memory {
    memory(Backend& b, std::size_t tables) : gathered(b), added(b), scratch(b), sums(tables) {}
    device_buffer<Backend> gathered, added, scratch;
    std::vector<selected_rows> sums;
  };

  static std::size_t floats_of(const selected_rows& r) {
    return static_cast<std::size_t>(padded(r.count)) +
           static_cast<std::size_t>(r.count) * static_cast<std::size_t>(padded(r.columns));
  }
  /// The rows lie there from now on; returns the end.
  static float* place_rows(selected_rows& r, float* at) {
    r.numbers = reinterpret_cast<int*>(at);
    r.values = at + padded(r.count);
    return at + floats_of(r);
  }
  /// Copies rows from another place or, without one, from where the place itself has them.
  static void fetch(Backend& mine, const Backend* other, const selected_rows& from,
                    const selected_rows& to) {
    const auto copy = [&](const void* source, void* target, int elements) {
      if (elements == 0) return;
      if (other != nullptr)
        return mine.copy_from(*other, target, source,
                              static_cast<std::size_t>(elements) * sizeof(float));
      const divider all(elements);
      mine.template elements<detail::reshape_body>(
          {source, target, 0, 0, all, all, sizeof(float), elements});
    };
    copy(from.numbers, to.numbers, from.count);
    copy(from.values, to.values, from.count * padded(from.columns));
  }

  std::vector<Backend*> places_;
  std::vector<memory> own_;
};

}  // namespace lamina::engine::cuda
