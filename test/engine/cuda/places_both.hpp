// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/places_both.hpp - a program trained at several places and by as many threads of
// the CPU side by side.
#pragma once

#include <memory>
#include <vector>

#include "engine/cuda/train_both.hpp"

#include <lamina/train/places_trainer.hpp>

namespace test {

/// `count` places, numbered from 0 on.
template <class Backend>
class several {
 public:
  explicit several(int count) {
    for (int i = 0; i < count; ++i)
      all_.push_back(owned_.emplace_back(std::make_unique<Backend>(i)).get());
  }
  const std::vector<Backend*>& all() const { return all_; }
  Backend& operator[](std::size_t i) const { return *all_[i]; }

 private:
  std::vector<std::unique_ptr<Backend>> owned_;
  std::vector<Backend*> all_;
};

/// Whether all places have the same bits of parameters and accumulators.
template <class P, class Trainer>
bool places_agree(Trainer& t, std::size_t count) {
  const auto bits_at = [&](std::size_t place) {
    t.bring_back(place);
    std::vector<float> all;
    for (int i = 0; i < P::desc.count.parameters; ++i) {
      const auto x = t.trained().get(i);
      all.insert(all.end(), x.data(), x.data() + x.size());
    }
    const lamina::stored_arrays states = t.arrays();
    for (int i = 0; i < states.parameters.size() * states.of_each; ++i)
      all.insert(all.end(), states.array[i],
                 states.array[i] + states.parameters.floats(i / states.of_each));
    return all;
  };
  const std::vector<float> first = bits_at(0);
  for (std::size_t k = 1; k < count; ++k)
    if (const auto other = bits_at(k);
        std::memcmp(first.data(), other.data(), first.size() * sizeof(float)) != 0)
      return false;
  return !first.empty();
}

/// The difference between training at these places and by as many threads; 1 where the places end
/// with models that are not equal to the last bit.
template <template <class> class Sum = lamina::engine::cuda::peer_sum, class P, class Opt,
          class Backend>
difference train_at_all(P program, const Opt& opt, const several<Backend>& places,
                        const std::vector<int>& sizes, int classes = 5,
                        sequence_lengths lengths = sequence_lengths::any) {
  const std::size_t count = places.all().size();
  lamina::model on_cpu{program, 3}, at_places{program, 3};
  lamina::trainer<P, Opt> expected(opt, on_cpu, static_cast<int>(count), 11);
  lamina::places_trainer<P, Opt, Backend, Sum<Backend>> found(places.all(), opt, at_places, 11);
  difference d = train_side_by_side<P>(expected, found, sizes, classes, lengths);
  if (!places_agree<P>(found, count)) d.parameters = 1;
  return d;
}

}  // namespace test
