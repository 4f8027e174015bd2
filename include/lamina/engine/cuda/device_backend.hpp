// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_backend.hpp - a CUDA device: memory, recorded graphs, launches. Needs
// the CUDA Toolkit's headers and runtime library, but not its compiler: what launches kernels is
// declared here and defined in device_kernels.cuh.
#pragma once

#include <cstddef>
#include <cstdlib>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/device_graphs.hpp>
#include <lamina/engine/cuda/product_body.hpp>
#include <lamina/engine/cuda/tensor_product.hpp>

namespace lamina::engine::cuda {

/// Device `number` of this machine. Work is done in the order of the calls, on one stream; another
/// copies what will be needed next. Not for two threads at once.
class device_backend : public device_graphs {
 public:
  using product_tile = tensor_shape<float32_format, 64, 64, 32, 2, 2>;
  using sum_tile = sum_shape<8, 32>;
  /// Threads of the blocks that run positions and lines, and of teams that have some rows each.
  static constexpr int block_threads = 256, row_threads = block_threads;

  /// Throws lamina::error where there is no driver, or no such device.
  LAMINA_COLD explicit device_backend(int number = 0) : device_graphs(number) {
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0)
      throw error(text() << "lamina: cuda: expected a CUDA device and its driver, found none ("
                         << failure_text(found == cudaSuccess ? cudaErrorNoDevice : found) << ")");
    if (number < 0 || number >= devices)
      throw error(text() << "lamina: cuda: place: expected a device from 0 to " << devices - 1
                         << ", found " << number);
    use();
    check_call(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, number),
               "cudaDeviceGetAttribute");
    create();
    int driver = 0;
    check_call(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    conditions_ = LAMINA_CUDA_CONDITIONS != 0 && driver >= 12040;
    // One launch after the other, each waited for: a failure then names its operator.
    const char* const careful = std::getenv("LAMINA_CUDA_CHECK");
    careful_ = careful != nullptr && careful[0] == '1';
  }
  device_backend(const device_backend&) = delete;
  device_backend& operator=(const device_backend&) = delete;

  /// Whether the steps of a loop may be one launch: a failure is then the loop's.
  bool joins_steps() const { return !careful_; }
  /// Notes which group is launched next, for messages; the machine says which layer's it is.
  void begin_group(const call_site& site) { operator_ = site.schema().type; }
  void end_group() {
    if (careful_) check_group(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    operator_ = nullptr;
  }

#if LAMINA_CUDA_CONDITIONS
  /// Records `work` as a block of its own, which runs if a condition holds, or as long as it does.
  template <class Body, class Work>
  void add_conditional(bool repeats, typename Body::arguments a, const Work& work) {
    cudaGraphConditionalHandle handle;
    check_call(cudaGraphConditionalHandleCreate(&handle, root_, 0, 0),
               "cudaGraphConditionalHandleCreate");
    a.enters = true;
    set_condition<Body>(handle, a);
    const cudaStream_t outer = enter_conditional(handle, repeats);
    try {
      work();
      if (repeats) {
        a.enters = false;
        set_condition<Body>(handle, a);
      }
    } catch (...) {
      leave_conditional(outer);
      throw;
    }
    check_call(leave_conditional(outer), "cudaStreamEndCapture");
  }
#else
  template <class Body, class Work>
  void add_conditional(bool, const typename Body::arguments&, const Work&) {}
#endif
  // Defined in device_kernels.cuh.
  template <class Body>
  void set_condition(unsigned long long handle, const typename Body::arguments& a);
  template <class Body>
  void cells(const typename Body::arguments& g);
  template <class Body>
  void teams(const typename Body::arguments& g);
  template <class Body>
  void lines(const typename Body::arguments& a);
  template <class Body>
  void elements(const typename Body::arguments& a);
  // Defined in device_algorithms.cuh.
  template <class Algorithm>
  void run_algorithm(const Algorithm& a, void* scratch = nullptr);
  template <class Algorithm>
  static void algorithm_scratch(const Algorithm& a, std::size_t* bytes);

 protected:
  /// Throws lamina::error naming the operator that is launched, and the call that failed.
  [[noreturn]] LAMINA_COLD void fail_in_group(const char* call, const char* what) const {
    throw error(text() << "lamina: cuda: " << (operator_ != nullptr ? operator_ : "")
                       << (operator_ != nullptr ? ": " : "") << call << ": " << what);
  }
  void check_launch() { check_group(cudaGetLastError(), "launch"); }

 private:
  void check_group(cudaError_t found, const char* call) {
    if (found != cudaSuccess) fail_in_group(call, failure_text(found));
  }

  int processors_ = 1;
  const char* operator_ = nullptr;  // whose group is launched; nobody's between groups
};

}  // namespace lamina::engine::cuda
