// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/fake_nccl.hpp - as much of <nccl.h> as nccl_sum calls, over places of the host:
// what was asked for in a group is done when the group ends.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#define NCCL_MAJOR 2

namespace test::nccl {

/// A stream of a place: what is asked for here follows what the place was asked for before.
struct stream {
  virtual void catch_up() = 0;

 protected:
  ~stream() = default;
};

}  // namespace test::nccl

using cudaStream_t = test::nccl::stream*;
enum ncclResult_t { ncclSuccess, ncclSystemError };
enum ncclDataType_t { ncclFloat };
enum ncclRedOp_t { ncclSum };
struct fake_communicator {
  int device, rank;
};
using ncclComm_t = fake_communicator*;

namespace test::nccl {

struct request {
  const float* from;
  float* to;
  std::size_t count;
  int rank;
  cudaStream_t stream;
};
/// What has been called, and which call fails.
struct state {
  std::vector<request> group;
  int communicators = 0;
  std::string calls, failing;
  ncclResult_t note(const char* call) {
    calls += std::string(calls.empty() ? "" : " ") + call;
    return failing == call ? ncclSystemError : ncclSuccess;
  }
};
inline state now;

}  // namespace test::nccl

inline const char* ncclGetErrorString(ncclResult_t) { return "unhandled system error"; }
inline ncclResult_t ncclCommInitAll(ncclComm_t* to, int count, const int* devices) {
  if (test::nccl::now.note("init") != ncclSuccess) return ncclSystemError;
  for (int i = 0; i < count; ++i) to[i] = new fake_communicator{devices[i], i};
  test::nccl::now.communicators += count;
  return ncclSuccess;
}
inline ncclResult_t ncclCommDestroy(ncclComm_t c) {
  delete c;
  --test::nccl::now.communicators;
  return ncclSuccess;
}
inline ncclResult_t ncclGroupStart() {
  test::nccl::now.group.clear();
  return test::nccl::now.note("start");
}
inline ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t,
                                  ncclRedOp_t, ncclComm_t c, cudaStream_t s) {
  test::nccl::now.group.push_back(
      {static_cast<const float*>(from), static_cast<float*>(to), count, c->rank, s});
  return test::nccl::now.note("reduce");
}
inline ncclResult_t ncclGroupEnd() {
  if (test::nccl::now.note("end") != ncclSuccess) return ncclSystemError;
  const std::vector<test::nccl::request>& all = test::nccl::now.group;
  for (const auto& r : all) r.stream->catch_up();
  for (std::size_t i = 0; !all.empty() && i < all[0].count; ++i) {
    float sum = 0;
    for (const auto& r : all) sum += r.from[i];
    for (const auto& r : all) r.to[i] = sum;
  }
  return ncclSuccess;
}
