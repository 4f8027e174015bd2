// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/nccl_sum.hpp - the sum of arrays of several places, by NCCL. Needs its header
// and library.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

// A header that has been included in its place stands for it.
#if !defined(NCCL_MAJOR)
#include <nccl.h>
#endif

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/core/worker_pool.hpp>

namespace lamina::engine::cuda {

/// What peer_sum does, by ncclAllReduce. In which order terms are added is NCCL's to choose, by the
/// devices and what connects them; all places get the same bits.
template <class Backend>
class nccl_sum {
 public:
  LAMINA_COLD nccl_sum(std::vector<Backend*> places, std::size_t floats)
      : places_(std::move(places)), floats_(floats) {
    if (places_.size() == 1) return;
    std::vector<int> numbers;
    for (const Backend* b : places_) numbers.push_back(b->number());
    communicators_.resize(places_.size());
    const ncclResult_t found =
        ncclCommInitAll(communicators_.data(), static_cast<int>(numbers.size()), numbers.data());
    if (found != ncclSuccess) {
      communicators_.clear();
      text devices;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        devices << (i == 0 ? "" : ", ") << numbers[i];
      throw error(text() << "lamina: cuda: ncclCommInitAll of devices " << devices << ": "
                         << ncclGetErrorString(found));
    }
  }
  nccl_sum(const nccl_sum&) = delete;
  nccl_sum& operator=(const nccl_sum&) = delete;
  ~nccl_sum() {
    for (const ncclComm_t c : communicators_) ncclCommDestroy(c);
  }

  /// arrays[t], at place t, becomes the sum of all of them, for what follows on its stream.
  void add(worker_pool&, float* const* arrays) {
    if (places_.size() == 1 || floats_ == 0) return;
    // One thread asks for all places: a call that fails leaves none of them waiting for another.
    check(ncclGroupStart(), "ncclGroupStart", 0);
    for (std::size_t t = 0; t < places_.size(); ++t) {
      const ncclResult_t found = ncclAllReduce(arrays[t], arrays[t], floats_, ncclFloat, ncclSum,
                                               communicators_[t], places_[t]->stream());
      if (found != ncclSuccess) {
        ncclGroupEnd();
        check(found, "ncclAllReduce", t);
      }
    }
    check(ncclGroupEnd(), "ncclGroupEnd", 0);
  }

 private:
  void check(ncclResult_t found, const char* call, std::size_t place) const {
    if (found != ncclSuccess)
      throw error(text() << "lamina: cuda: " << call << " at device " << places_[place]->number()
                         << ": " << ncclGetErrorString(found));
  }

  std::vector<Backend*> places_;
  std::size_t floats_;
  std::vector<ncclComm_t> communicators_;
};

}  // namespace lamina::engine::cuda
