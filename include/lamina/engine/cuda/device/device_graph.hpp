// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/device_graph.hpp - captures the work of a run as a CUDA graph and
// replays it.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/engine/cuda/device/device_memory.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// Captures the work of a stream as a graph and replays it: one launch per run in place of one per
/// kernel. With LAMINA_CUDA_GRAPHS=0 in the environment it launches each kernel directly.
class device_graph : public device_memory {
 public:
  /// Host memory for a copy that is being captured; it lives as long as the graph. Null if nothing
  /// is being captured.
  void* staging_of_graph(std::size_t bytes) {
    if (!capturing_) return nullptr;
    kept_.reserve(kept_.size() + 1);
    kept_.push_back(allocate_staging(bytes));
    return kept_.back();
  }
  /// Does the work. The second call with an equal key captures it, and later calls launch the
  /// graph: the launches must depend on the key alone.
  template <class Work>
  void replay(std::string_view key, Work&& work) {
    use();
    if (!captures_) return work();
    // The work calls forget() if it moves memory, so find() is called again.
    if (!find(key).seen) {
      work();
      find(key).seen = true;
      return;
    }
    if (find(key).graph == nullptr) {
      try {
        check_call(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
                   "cudaStreamBeginCapture");
        capturing_ = true;
        work();
      } catch (...) {
        stop_capture();
        throw;
      }
      const cudaGraphExec_t made = end_capture();
      captured& c = find(key);
      c.seen = true;
      c.graph = made;
      c.kept = std::exchange(kept_, {});
    }
    check_call(cudaGraphLaunch(find(key).graph, stream_), "cudaGraphLaunch");
  }
  /// Does work that is never replayed.
  template <class Work>
  void once(Work&& work) {
    use();
    work();
  }
  /// Drops all graphs, because memory that they use has moved.
  void forget() noexcept {
    for (captured& c : captured_) {
      if (c.graph != nullptr) cudaGraphExecDestroy(c.graph);
      release_kept(c.kept);
    }
    captured_.clear();
  }

 protected:
  using device_memory::device_memory;
  ~device_graph() { forget(); }

  bool captures_ = false;

 private:
  struct captured {
    std::string key;
    cudaGraphExec_t graph = nullptr;
    bool seen = false;
    std::vector<void*> kept;  // host memory that the graph copies from
  };
  static constexpr std::size_t most_captured = 128;

  LAMINA_COLD captured& find(std::string_view key) {
    for (captured& c : captured_)
      if (c.key == key) return c;
    // Keys that were never repeated are removed first.
    if (captured_.size() >= most_captured)
      std::erase_if(captured_, [](const captured& c) { return c.graph == nullptr; });
    if (captured_.size() >= most_captured) forget();
    captured& c = captured_.emplace_back();
    c.key = key;
    return c;
  }
  void release_kept(std::vector<void*>& kept) noexcept {
    // A graph that has been launched may still copy from it.
    if (!kept.empty() && cudaStreamSynchronize(stream_) != cudaSuccess) cudaGetLastError();
    for (void* const p : kept) release_staging(p);
    kept.clear();
  }
  LAMINA_COLD void stop_capture() noexcept {
    capturing_ = false;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    release_kept(kept_);
  }
  LAMINA_COLD cudaGraphExec_t end_capture() {
    capturing_ = false;
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
    cudaGraphExec_t made = nullptr;
    cudaError_t found = ended;
    if (ended == cudaSuccess) {
      found = cudaGraphInstantiate(&made, graph, 0);
      cudaGraphDestroy(graph);
    }
    if (found != cudaSuccess) release_kept(kept_);
    check_call(found, ended == cudaSuccess ? "cudaGraphInstantiate" : "cudaStreamEndCapture");
    return made;
  }

  bool capturing_ = false;
  std::vector<captured> captured_;
  std::vector<void*> kept_;  // of the graph that is being captured
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
