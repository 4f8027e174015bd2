// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/device/cublaslt.hpp - a backend that multiplies matrices with the library
// cuBLASLt.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// A test may have included a substitute for the library's header before.
#if !defined(CUBLAS_VERSION)
#if !__has_include(<cublasLt.h>)
#error "lamina: expected cublasLt.h of the CUDA Toolkit among the include directories"
#endif
#include <cublasLt.h>
#endif

#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/place.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Destroys a cuBLASLt object that a unique_ptr owns.
template <class T>
struct cublaslt_deleter {
  cublasStatus_t (*destroy)(T);
  void operator()(T x) const { destroy(x); }
};
template <class T>
using cublaslt_object = std::unique_ptr<std::remove_pointer_t<T>, cublaslt_deleter<T>>;

/// The cuBLASLt compute type of an arithmetic, which determines how operands are rounded before
/// they are multiplied. Arrays and sums are always floats.
template <class Arithmetic>
inline constexpr cublasComputeType_t compute_type = CUBLAS_COMPUTE_32F;
template <>
inline constexpr cublasComputeType_t compute_type<lamina::cuda::tf32_type> =
    CUBLAS_COMPUTE_32F_FAST_TF32;
template <>
inline constexpr cublasComputeType_t compute_type<lamina::cuda::bfloat16_type> =
    CUBLAS_COMPUTE_32F_FAST_16BF;

}  // namespace detail

/// Adds matrix products by cuBLASLt to the backend `Base`. Partial sums (split-K) are added in a
/// separate step without atomics, so that equal inputs give equal bits. `Workspace` is the floats
/// of workspace per product; the default is 32 MiB, as NVIDIA advises for sm_90.
template <class Base, class Arithmetic = lamina::cuda::float32_type,
          std::ptrdiff_t Workspace = std::ptrdiff_t{1} << 23>
class cublaslt_backend : public Base {
 public:
  static constexpr std::ptrdiff_t product_workspace = Workspace;

  LAMINA_COLD explicit cublaslt_backend(int number = 0) : Base(number) {
    cublasLtHandle_t made = nullptr;
    require_success(cublasLtCreate(&made), "cublasLtCreate");
    library_ = detail::cublaslt_object<cublasLtHandle_t>(made, {&cublasLtDestroy});
  }

  /// Launches a product. Throws lamina::error if the library fails or has no algorithm for it.
  void multiply(const product& p, float* workspace) {
    // The limit of the z dimension of a CUDA grid, which the library uses for batches.
    constexpr int most = 65535;
    for (int first = 0; first < p.batches; first += most) {
      product some = p;
      some.batches = (std::min)(most, p.batches - first);
      some.left.data += first * p.left.batch_stride;
      some.right.data += first * p.right.batch_stride;
      some.to += first * p.batch_stride;
      launch(some, workspace);
    }
  }

 private:
  using layout = detail::cublaslt_object<cublasLtMatrixLayout_t>;
  /// Alignments of the left matrix, the right matrix and the result, in bytes.
  struct alignments {
    std::uint32_t left, right, to;
    bool operator==(const alignments&) const = default;
  };
  /// The chosen algorithm and descriptors for all products with the same sizes, strides and
  /// alignments.
  struct call {
    product of;
    alignments aligned;
    detail::cublaslt_object<cublasLtMatmulDesc_t> how;
    layout left, right, to;
    cublasLtMatmulAlgo_t algorithm;
  };
  static constexpr std::size_t workspace_bytes =
      static_cast<std::size_t>(product_workspace) * sizeof(float);
  static constexpr std::size_t most_calls = 256;

  void require_success(cublasStatus_t found, const char* name) {
    if (found != CUBLAS_STATUS_SUCCESS) this->fail_in_group(name, cublasLtGetStatusString(found));
  }
  void launch(const product& p, float* workspace) {
    call& found = find(p);
    if (p.epilogue != product_epilogue::none) set_bias(found, p.bias);
    const float zero = 0;
    // The library's matrices are column-major, so it computes the transposed product: the
    // transposed right matrix times the transposed left matrix.
    require_success(cublasLtMatmul(library_.get(), found.how.get(), &p.alpha, p.right.data,
                                   found.right.get(), p.left.data, found.left.get(), &zero, p.to,
                                   found.to.get(), p.to, found.to.get(), &found.algorithm,
                                   workspace, workspace_bytes, this->stream()),
                    "cublasLtMatmul");
  }
  /// Returns the alignment in bytes that all matrices of a batch share; at most 16, because
  /// algorithms need no more.
  static std::uint32_t alignment_of(const float* data, std::ptrdiff_t batch_stride) {
    const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(data) |
                                static_cast<std::uintptr_t>(batch_stride) * sizeof(float) | 16;
    return static_cast<std::uint32_t>(bits & (~bits + 1));
  }
  static bool is_like(const product::side& a, const product::side& b) {
    return a.stride == b.stride && a.turned == b.turned && a.batch_stride == b.batch_stride;
  }
  static bool is_like(const product& a, const product& b) {
    return a.rows == b.rows && a.columns == b.columns && a.depth == b.depth &&
           a.batches == b.batches && a.epilogue == b.epilogue && is_like(a.left, b.left) &&
           is_like(a.right, b.right) && a.stride == b.stride && a.batch_stride == b.batch_stride;
  }
  call& find(const product& p) {
    const alignments aligned{alignment_of(p.left.data, p.left.batch_stride),
                             alignment_of(p.right.data, p.right.batch_stride),
                             alignment_of(p.to, p.batch_stride)};
    for (call& known : calls_)
      if (is_like(known.of, p) && known.aligned == aligned) return known;
    return make(p, aligned);
  }
  LAMINA_COLD call& make(const product& p, const alignments& aligned) {
    if (calls_.size() >= most_calls) calls_.clear();
    cublasLtMatmulDesc_t how = nullptr;
    require_success(cublasLtMatmulDescCreate(&how, detail::compute_type<Arithmetic>, CUDA_R_32F),
                    "cublasLtMatmulDescCreate");
    call made{p, aligned, {how, {&cublasLtMatmulDescDestroy}}, {}, {}, {}, {}};
    set(made, CUBLASLT_MATMUL_DESC_TRANSA, p.right.turned ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(made, CUBLASLT_MATMUL_DESC_TRANSB, p.left.turned ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (p.epilogue != product_epilogue::none) {
      set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set_bias(made, p.bias);
    }
    made.right = layout_of(p.columns, p.depth, p.right, p.batches);
    made.left = layout_of(p.depth, p.rows, p.left, p.batches);
    made.to = layout_of(p.columns, p.rows, {p.to, p.stride, false, p.batch_stride}, p.batches);
    choose(made);
    return calls_.emplace_back(std::move(made));
  }
  /// Creates the library's column-major layout of a matrix. `down` is the number of columns of the
  /// row-major matrix, `across` the number of rows; the reverse if the matrix is stored transposed.
  LAMINA_COLD layout layout_of(int down, int across, const product::side& s, int batches) {
    if (s.turned) std::swap(down, across);
    // The stride of a single row may be less than its length, which the library rejects.
    cublasLtMatrixLayout_t layout_made = nullptr;
    require_success(
        cublasLtMatrixLayoutCreate(
            &layout_made, CUDA_R_32F, static_cast<std::uint64_t>(down),
            static_cast<std::uint64_t>(across),
            across == 1 ? std::max<std::int64_t>(down, s.stride) : std::int64_t{s.stride}),
        "cublasLtMatrixLayoutCreate");
    layout made{layout_made, {&cublasLtMatrixLayoutDestroy}};
    const auto want = [&](cublasLtMatrixLayoutAttribute_t attribute, auto x) {
      require_success(cublasLtMatrixLayoutSetAttribute(layout_made, attribute, &x, sizeof(x)),
                      "cublasLtMatrixLayoutSetAttribute");
    };
    if (batches > 1) {
      want(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{batches});
      want(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{s.batch_stride});
    }
    return made;
  }
  template <class T>
  void set(call& c, cublasLtMatmulDescAttributes_t attribute, const T& x) {
    static_assert(sizeof(T) == sizeof(std::int32_t) || std::is_pointer_v<T>);
    require_success(cublasLtMatmulDescSetAttribute(c.how.get(), attribute, &x, sizeof(x)),
                    "cublasLtMatmulDescSetAttribute");
  }
  void set_bias(call& c, const float* bias) {
    set(c, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias));
  }
  /// Chooses the algorithm that the library expects to be the fastest among the algorithms with
  /// reproducible results.
  LAMINA_COLD void choose(call& c) {
    cublasLtMatmulPreference_t made = nullptr;
    require_success(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const detail::cublaslt_object<cublasLtMatmulPreference_t> wanted(
        made, {&cublasLtMatmulPreferenceDestroy});
    const auto want = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto x) {
      require_success(cublasLtMatmulPreferenceSetAttribute(made, attribute, &x, sizeof(x)),
                      "cublasLtMatmulPreferenceSetAttribute");
    };
    want(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
    want(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, c.aligned.right);
    want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, c.aligned.left);
    want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c.aligned.to);
    want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c.aligned.to);
    cublasLtMatmulHeuristicResult_t best{};
    int count = 0;
    const cublasStatus_t found =
        cublasLtMatmulAlgoGetHeuristic(library_.get(), c.how.get(), c.right.get(), c.left.get(),
                                       c.to.get(), c.to.get(), made, 1, &best, &count);
    if (found != CUBLAS_STATUS_NOT_SUPPORTED)
      require_success(found, "cublasLtMatmulAlgoGetHeuristic");
    if (count < 1 || best.state != CUBLAS_STATUS_SUCCESS) fail_sizes(c.of);
    c.algorithm = best.algo;
  }
  [[noreturn]] LAMINA_COLD void fail_sizes(const product& p) {
    const std::string what = text()
                             << "found no algorithm for " << p.batches << " x [" << p.rows << ", "
                             << p.depth << "] * [" << p.depth << ", " << p.columns << "]";
    this->fail_in_group("cublasLtMatmulAlgoGetHeuristic", what.c_str());
  }

  detail::cublaslt_object<cublasLtHandle_t> library_{nullptr, {&cublasLtDestroy}};
  std::vector<call> calls_;
};

}}}  // namespace lamina::engine::cuda
