// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/nccl_session.hpp - processes connected by MPI whose CUDA devices are connected
// by NCCL.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

// A test may already have included a substitute for these headers.
#if !defined(NCCL_MAJOR)
#include <nccl.h>
#if NCCL_VERSION_CODE < NCCL_VERSION(2, 14, 0)
#error "lamina: expected NCCL 2.14 or later, whose calls can be given up, found an earlier one"
#endif
#endif

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/engine/cuda/device/device_memory.hpp>
#include <lamina/train/device/device_sums.hpp>
#if defined(LAMINA_HAS_MPI)
#include <lamina/distributed/mpi/mpi_session.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Sums over the devices of processes by NCCL, on the stream of this process's device. NCCL chooses
/// the order of the sum, so the last digits may depend on the number and kind of devices. end()
/// returns when the device has the sums. If another process fails, or does not take part within the
/// patience of the group, end() aborts the communicator and throws the group's error.
class nccl_sums final : public device_sums {
 public:
  LAMINA_COLD nccl_sums(process_group& group, int device, cudaStream_t stream)
      : group_(group), stream_(stream), words_(static_cast<std::size_t>(group.size())) {
    ncclUniqueId id{};
    if (group.rank() == 0) require(ncclGetUniqueId(&id), "ncclGetUniqueId");
    std::vector<ncclUniqueId> ids(static_cast<std::size_t>(group.size()));
    group.gather(&id, sizeof id, ids.data());
    engine::cuda::check_call(cudaSetDevice(device), "cudaSetDevice");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // a blocking call that waits for other processes might never return
    require(ncclCommInitRankConfig(&comm_, group.size(), ids[0], group.rank(), &config),
            "ncclCommInitRankConfig");
    wait("ncclCommInitRankConfig");
  }
  nccl_sums(const nccl_sums&) = delete;
  nccl_sums& operator=(const nccl_sums&) = delete;
  /// Aborts the communicator without waiting for other processes, because one may have failed.
  ~nccl_sums() override { give_up(); }

  void begin() override { require(ncclGroupStart(), "ncclGroupStart"); }
  void end() override {
    require(ncclGroupEnd(), "ncclGroupEnd");
    wait("ncclGroupEnd");
    for (const ncclRedOp_t sum : weighted_)
      require(ncclRedOpDestroy(sum, comm_), "ncclRedOpDestroy");
    weighted_.clear();
  }
  void all_reduce_sum(float* data, std::size_t count, float weight) override {
    if (count == 0) return;
    // A multiplication by 0 would keep NaN.
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
    if (found != ncclSuccess && found != ncclInProgress)
      throw error(text() << "lamina: distributed: " << call
                         << ": expected success, found: " << ncclGetErrorString(found));
  }
  /// Waits until the calls of all processes are done.
  void wait(const char* call) {
    try {
      // The processes exchange one byte first, so that the group can name a process that is
      // missing.
      std::vector<process_group::message> sends, receives;
      for (int r = 0; r < group_.size(); ++r) {
        if (r == group_.rank()) continue;
        sends.push_back({r, &words_[static_cast<std::size_t>(group_.rank())], 1});
        receives.push_back({r, &words_[static_cast<std::size_t>(r)], 1});
      }
      group_.exchange(sends, receives);
      while (!is_done(call)) group_.wait_awhile();
    } catch (...) {
      give_up();
      throw;
    }
  }
  bool is_done(const char* call) {
    ncclResult_t state = ncclSuccess;
    require(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    require(state, call);
    if (state == ncclInProgress) return false;
    const cudaError_t found = cudaStreamQuery(stream_);
    if (found == cudaErrorNotReady)
      cudaGetLastError();  // clears the error, which a later launch would report
    else
      engine::cuda::check_call(found, "cudaStreamQuery");
    return found == cudaSuccess;
  }
  LAMINA_COLD void give_up() noexcept {
    if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
  }

  process_group& group_;
  cudaStream_t stream_;
  std::vector<char> words_;  // the byte of each rank
  ncclComm_t comm_ = nullptr;
  std::vector<ncclRedOp_t> weighted_;  // operations of the calls since begin()
};

#if defined(LAMINA_HAS_MPI)
/// A session for training on CUDA devices, with one device per process:
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

}}}  // namespace lamina::distributed
