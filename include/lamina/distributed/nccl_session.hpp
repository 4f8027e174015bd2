// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/nccl_session.hpp - processes connected by MPI whose CUDA devices are connected
// by NCCL.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <memory>
#include <vector>

// A test may have included a substitute for these headers before.
#if !defined(NCCL_MAJOR)
#include <nccl.h>
#endif

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/engine/cuda/device/device_memory.hpp>
#include <lamina/train/device/device_sums.hpp>
#if defined(LAMINA_HAS_MPI)
#include <lamina/distributed/mpi_session.hpp>
#endif

namespace lamina::inline LAMINA_ABI::distributed {

/// Sums over the devices of processes by NCCL, on the stream of this process's device. NCCL chooses
/// the order of the sum, so the last digits may depend on the number and kind of devices.
class nccl_sums final : public device_sums {
 public:
  LAMINA_COLD nccl_sums(process_group& group, int device, cudaStream_t stream) : stream_(stream) {
    ncclUniqueId id{};
    if (group.rank() == 0) require(ncclGetUniqueId(&id), "ncclGetUniqueId");
    std::vector<ncclUniqueId> ids(static_cast<std::size_t>(group.size()));
    group.gather(&id, sizeof id, ids.data());
    engine::cuda::check_call(cudaSetDevice(device), "cudaSetDevice");
    require(ncclCommInitRank(&comm_, group.size(), ids[0], group.rank()), "ncclCommInitRank");
  }
  nccl_sums(const nccl_sums&) = delete;
  nccl_sums& operator=(const nccl_sums&) = delete;
  /// Ends the connection without a wait for other processes, because one may have failed.
  ~nccl_sums() override {
    if (comm_ != nullptr) ncclCommAbort(comm_);
  }

  void begin() override { require(ncclGroupStart(), "ncclGroupStart"); }
  void end() override {
    require(ncclGroupEnd(), "ncclGroupEnd");
    for (const ncclRedOp_t sum : weighted_)
      require(ncclRedOpDestroy(sum, comm_), "ncclRedOpDestroy");
    weighted_.clear();
  }
  void add_up(float* data, std::size_t count, float weight) override {
    if (count == 0) return;
    // 0 times NaN is NaN.
    if (weight == 0)
      engine::cuda::check_call(cudaMemsetAsync(data, 0, count * sizeof(float), stream_),
                               "cudaMemsetAsync");
    ncclRedOp_t sum{};
    require(ncclRedOpCreatePreMulSum(&sum, &weight, ncclFloat32, ncclScalarHostImmediate, comm_),
            "ncclRedOpCreatePreMulSum");
    weighted_.push_back(sum);
    require(ncclAllReduce(data, data, count, ncclFloat32, sum, comm_, stream_), "ncclAllReduce");
  }
  void spread(float* data, std::size_t count) override {
    if (count > 0)
      require(ncclBroadcast(data, data, count, ncclFloat32, 0, comm_, stream_), "ncclBroadcast");
  }

 private:
  static void require(ncclResult_t found, const char* call) {
    if (found != ncclSuccess)
      throw error(text() << "lamina: distributed: " << call
                         << ": expected success, found: " << ncclGetErrorString(found));
  }

  cudaStream_t stream_;
  ncclComm_t comm_ = nullptr;
  std::vector<ncclRedOp_t> weighted_;  // of the calls since begin()
};

#if defined(LAMINA_HAS_MPI)
/// A session for training on CUDA devices, one for each process:
///
///   lamina::distributed::nccl_session world{argc, argv};
///   adam.train(model, reader, {.world = &world, .place = lamina::cuda::place{local_device}});
///
/// Link with MPI and -lnccl.
class nccl_session final : public mpi_session {
 public:
  using mpi_session::mpi_session;

  LAMINA_COLD std::unique_ptr<device_sums> share_device(int device, void* stream) override {
    return std::make_unique<nccl_sums>(*this, device, static_cast<cudaStream_t>(stream));
  }
};
#endif

}  // namespace lamina::inline LAMINA_ABI::distributed
