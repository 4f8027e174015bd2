// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device_backend.hpp - a CUDA device: memory, launches, recorded graphs. Needs
// the CUDA Toolkit's headers and runtime library, but not its compiler: what launches kernels is
// declared here and defined in device_kernels.cuh.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A header that has been included in its place stands for it.
#if !defined(CUDART_VERSION)
#include <cuda_runtime_api.h>
#endif

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>
#include <lamina/engine/cuda/device_stream.hpp>
#include <lamina/engine/cuda/graph_branches.hpp>
#include <lamina/engine/cuda/product_body.hpp>

/// Whether graphs have conditional nodes: the toolkit from 12.4 on. Drivers tell when they start.
#if !defined(LAMINA_CUDA_CONDITIONS)
#define LAMINA_CUDA_CONDITIONS (CUDART_VERSION >= 12040)
#endif
/// Whether what is recorded has branches: groups that have nothing to do with each other.
#if !defined(LAMINA_CUDA_BRANCHES)
#define LAMINA_CUDA_BRANCHES 1
#endif

namespace lamina::engine::cuda {

/// Device `number` of this machine. Work is done in the order of the calls, on one stream; another
/// copies what will be needed next. Not for two threads at once.
class device_backend : public device_stream {
 public:
  using product_tile = tile_shape<64, 64, 16, 4>;
  using sum_tile = sum_shape<8, 32>;
  /// Threads of the blocks that run positions and lines.
  static constexpr int block_threads = 256;

  /// Throws lamina::error where there is no driver, or no such device.
  LAMINA_COLD explicit device_backend(int number = 0) : device_stream(number) {
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
  ~device_backend() {
    forget();
    for (const cudaEvent_t e : {arrived_, taken_})
      if (e != nullptr) cudaEventDestroy(e);
    if (copies_ != nullptr) cudaStreamDestroy(copies_);
    for (const cudaStream_t s : inner_) cudaStreamDestroy(s);
  }

  void* allocate(std::size_t bytes) {
    use();
    void* p = nullptr;
    const cudaError_t found = cudaMalloc(&p, bytes);
    if (found == cudaErrorMemoryAllocation) fail_allocation(bytes);
    check_call(found, "cudaMalloc");
    const cudaError_t cleared = cudaMemsetAsync(p, 0, bytes, stream_);
    if (cleared != cudaSuccess) cudaFree(p);
    check_call(cleared, "cudaMemsetAsync");
    in_use_ += bytes;
    return p;
  }
  void set_planned(std::size_t bytes) noexcept { planned_ = bytes; }
  void release(void* p, std::size_t bytes) noexcept {
    // Waits for whatever still uses it.
    finish_copies();
    cudaFree(p);
    in_use_ -= bytes;
  }
  /// Memory of the host that does not move, so that copies do not wait.
  void* allocate_staging(std::size_t bytes) {
    use();
    void* p = nullptr;
    const cudaError_t found = cudaMallocHost(&p, bytes);
    if (found != cudaSuccess)
      throw error(text() << "lamina: cuda: cudaMallocHost of " << bytes
                         << " bytes: " << failure_text(found));
    std::memset(p, 0, bytes);
    return p;
  }
  void release_staging(void* p) noexcept {
    if (p == nullptr) return;
    finish_copies();
    cudaFreeHost(p);
  }
  /// Memory for a copy that is being recorded, which stays as long as the graph; null where nothing
  /// is recorded.
  void* staging_of_graph(std::size_t bytes) {
    if (!recording_) return nullptr;
    kept_.reserve(kept_.size() + 1);
    kept_.push_back(allocate_staging(bytes));
    return kept_.back();
  }
  /// Whether the steps of a loop may be one launch: a failure is then the loop's.
  bool joins_steps() const { return !careful_; }
  void upload(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0)
      check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_),
                 "cudaMemcpyAsync to the device");
  }
  void download(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0)
      check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_),
                 "cudaMemcpyAsync from the device");
  }
  /// Copies beside the work of the stream; when take_ahead() has taken the copy before.
  void upload_ahead(void* to, const void* from, std::size_t bytes) {
    use();
    if (copies_ == nullptr) create_copies();
    check_call(cudaStreamWaitEvent(copies_, taken_, 0), "cudaStreamWaitEvent");
    if (bytes != 0)
      check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copies_),
                 "cudaMemcpyAsync to the device");
    check_call(cudaEventRecord(arrived_, copies_), "cudaEventRecord");
  }
  /// Copies within the device what upload_ahead() has brought there.
  void take_ahead(void* to, const void* from, std::size_t bytes) {
    use();
    check_call(cudaStreamWaitEvent(stream_, arrived_, 0), "cudaStreamWaitEvent");
    if (bytes != 0)
      check_call(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_),
                 "cudaMemcpyAsync within the device");
    check_call(cudaEventRecord(taken_, stream_), "cudaEventRecord");
  }
  void wait() { check_call(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// Notes which group is launched next, for messages; the machine says which layer's it is.
  void begin_group(const call_site& site) { operator_ = site.schema().type; }
  void end_group() {
    if (careful_) check_group(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    operator_ = nullptr;
  }

  /// Does the work. The second time with an equal key it is recorded as a graph, and from then on
  /// the graph is launched: the work must depend on the key alone, and on memory.
  template <class Work>
  void replay(std::string_view key, Work&& work) {
    use();
    if (careful_) return work();
    // Whatever is known of a key is forgotten where the work finds too little memory.
    if (!find(key).seen) {
      work();
      find(key).seen = true;
      return;
    }
    if (find(key).graph == nullptr) {
      try {
        begin_recording();
        work();
      } catch (...) {
        stop_recording();
        throw;
      }
      const cudaGraphExec_t made = end_recording();
      recorded& r = find(key);
      r.seen = true;
      r.graph = made;
      r.kept = std::exchange(kept_, {});
    }
    check_call(cudaGraphLaunch(find(key).graph, stream_), "cudaGraphLaunch");
  }
  /// Does work that is never repeated as it is.
  template <class Work>
  void once(Work&& work) {
    use();
    work();
  }
  /// Whether graphs may have conditions: blocks that run, or run again, without the host. Older
  /// drivers have none; then the host reads each condition and launches the block itself.
  bool knows_conditions() const { return conditions_ && !careful_; }
  bool records_conditions() const { return root_ != nullptr && knows_conditions(); }
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
  /// Whether groups are recorded that may be nodes beside each other. The next one follows those
  /// that use its memory; what is recorded behind join_branches() follows all of them.
  bool records_branches() const { return LAMINA_CUDA_BRANCHES != 0 && recording_; }
  void begin_branch(const std::vector<memory_use>& uses) {
    if (!branching_) {
      branches_.begin(last_nodes());
      branching_ = true;
    }
    follow(branches_.before(uses));
  }
  void end_branch(const std::vector<memory_use>& uses) { branches_.add(uses, last_nodes()); }
  void join_branches() {
    if (!branching_) return;
    branching_ = false;
    follow(branches_.leaves());
  }
  /// What was recorded does not hold any more.
  void forget() noexcept {
    for (recorded& r : recorded_) {
      if (r.graph != nullptr) cudaGraphExecDestroy(r.graph);
      release_kept(r.kept);
    }
    recorded_.clear();
  }

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
  // Defined in device_sort.cuh.
  /// Sorts `count` keys from 0 to below 2^bits with a number each; equal keys stay in their order.
  template <class Key>
  void sort_pairs(int count, int bits, const Key* keys, Key* sorted_keys, const int* numbers,
                  int* sorted_numbers, void* scratch);
  template <class Key>
  static void sort_scratch(int count, std::size_t* bytes);

 protected:
  /// Throws lamina::error naming the operator that is launched, and the call that failed.
  [[noreturn]] LAMINA_COLD void fail_in_group(const char* call, const char* what) const {
    throw error(text() << "lamina: cuda: " << (operator_ != nullptr ? operator_ : "")
                       << (operator_ != nullptr ? ": " : "") << call << ": " << what);
  }
  void check_launch() { check_group(cudaGetLastError(), "launch"); }

 private:
  struct recorded {
    std::string key;
    cudaGraphExec_t graph = nullptr;
    bool seen = false;
    std::vector<void*> kept;  // that the graph copies from
  };
  static constexpr std::size_t most_recorded = 32;

  /// A copy ahead that no run has taken may still be on its way.
  void finish_copies() noexcept {
    // Of a failure that stays the next call is told, too.
    if (copies_ != nullptr && cudaStreamSynchronize(copies_) != cudaSuccess) cudaGetLastError();
  }
  LAMINA_COLD void create_copies() {
    for (cudaEvent_t* const e : {&arrived_, &taken_})
      if (*e == nullptr)
        check_call(cudaEventCreateWithFlags(e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check_call(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }
  [[noreturn]] LAMINA_COLD void fail_allocation(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    cudaGetLastError();
    check_call(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    fail_memory(bytes, planned_, in_use_, free, total);
  }
  void check_group(cudaError_t found, const char* call) {
    if (found != cudaSuccess) fail_in_group(call, failure_text(found));
  }
  LAMINA_COLD recorded& find(std::string_view key) {
    for (recorded& r : recorded_)
      if (r.key == key) return r;
    // Of keys that never came back nothing is lost.
    if (recorded_.size() >= most_recorded)
      std::erase_if(recorded_, [](const recorded& r) { return r.graph == nullptr; });
    if (recorded_.size() >= most_recorded) forget();
    recorded& r = recorded_.emplace_back();
    r.key = key;
    return r;
  }
  void release_kept(std::vector<void*>& kept) noexcept {
    // A graph that has been launched may still copy from it.
    if (!kept.empty() && cudaStreamSynchronize(stream_) != cudaSuccess) cudaGetLastError();
    for (void* const p : kept) release_staging(p);
    kept.clear();
  }
  LAMINA_COLD void begin_recording() {
    check_call(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCapture");
    recording_ = true;
    branching_ = false;
    root_ = recorded_so_far().graph;
  }
  /// The graph that the stream records, and the nodes that the next one follows.
  struct recording {
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* last = nullptr;
    std::size_t last_count = 0;
  };
  LAMINA_COLD recording recorded_so_far() const {
    recording r;
    cudaStreamCaptureStatus status{};
    unsigned long long id = 0;
#if CUDART_VERSION >= 13000
    const cudaGraphEdgeData* edges = nullptr;
    check_call(
        cudaStreamGetCaptureInfo(stream_, &status, &id, &r.graph, &r.last, &edges, &r.last_count),
        "cudaStreamGetCaptureInfo");
#else
    check_call(cudaStreamGetCaptureInfo_v2(stream_, &status, &id, &r.graph, &r.last, &r.last_count),
               "cudaStreamGetCaptureInfo");
#endif
    return r;
  }
  std::vector<cudaGraphNode_t> last_nodes() const {
    const recording r = recorded_so_far();
    return {r.last, r.last + r.last_count};
  }
  /// The next node follows these.
  LAMINA_COLD void follow(std::vector<cudaGraphNode_t> nodes) {
#if CUDART_VERSION >= 13000
    check_call(cudaStreamUpdateCaptureDependencies(stream_, nodes.data(), nullptr, nodes.size(),
                                                   cudaStreamSetCaptureDependencies),
               "cudaStreamUpdateCaptureDependencies");
#else
    check_call(cudaStreamUpdateCaptureDependencies(stream_, nodes.data(), nodes.size(),
                                                   cudaStreamSetCaptureDependencies),
               "cudaStreamUpdateCaptureDependencies");
#endif
  }
#if LAMINA_CUDA_CONDITIONS
  /// Adds the node of a block; until it is left, what is launched is recorded into its graph. Each
  /// level has a stream of its own, for the one around goes on recording. Returns that one.
  LAMINA_COLD cudaStream_t enter_conditional(cudaGraphConditionalHandle handle, bool repeats) {
    const recording before = recorded_so_far();
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = repeats ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    p.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
    check_call(cudaGraphAddNode(&node, before.graph, before.last, nullptr, before.last_count, &p),
               "cudaGraphAddNode");
#else
    check_call(cudaGraphAddNode(&node, before.graph, before.last, before.last_count, &p),
               "cudaGraphAddNode");
#endif
    follow({node});
    if (depth_ == inner_.size()) {
      cudaStream_t made = nullptr;
      check_call(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags");
      inner_.push_back(made);
    }
    const cudaStream_t inner = inner_[depth_];
    check_call(cudaStreamBeginCaptureToGraph(inner, p.conditional.phGraph_out[0], nullptr, nullptr,
                                             0, cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCaptureToGraph");
    ++depth_;
    return std::exchange(stream_, inner);
  }
  LAMINA_COLD cudaError_t leave_conditional(cudaStream_t outer) noexcept {
    --depth_;
    cudaGraph_t body = nullptr;  // a part of the whole graph
    return cudaStreamEndCapture(std::exchange(stream_, outer), &body);
  }
#endif
  LAMINA_COLD void stop_recording() noexcept {
    root_ = nullptr;
    recording_ = branching_ = false;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    release_kept(kept_);
  }
  LAMINA_COLD cudaGraphExec_t end_recording() {
    root_ = nullptr;
    recording_ = false;
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

  int processors_ = 1;
  bool careful_ = false;
  const char* operator_ = nullptr;  // whose group is launched; nobody's between groups
  std::size_t in_use_ = 0, planned_ = 0;
  cudaStream_t copies_ = nullptr;
  cudaEvent_t arrived_ = nullptr, taken_ = nullptr;  // of what is copied ahead
  bool conditions_ = false;
  bool recording_ = false, branching_ = false;
  cudaGraph_t root_ = nullptr;       // that is being recorded
  std::vector<cudaStream_t> inner_;  // by depth of blocks: that record them
  std::size_t depth_ = 0;
  std::vector<recorded> recorded_;
  std::vector<void*> kept_;  // of the graph that is being recorded
  graph_branches<cudaGraphNode_t> branches_;
};

}  // namespace lamina::engine::cuda
