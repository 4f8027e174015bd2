// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/library_backend.hpp - a backend whose large products are cuBLASLt's. Needs its
// header and library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

// A header that has been included in its place stands for it.
#if !defined(CUBLAS_VERSION)
#include <cublasLt.h>
#endif

#include <lamina/core/config.hpp>
#include <lamina/engine/cuda/library_product.hpp>
#include <lamina/engine/cuda/tensor_format.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// Something of the library's that is given back with its owner.
template <class T>
struct library_deleter {
  cublasStatus_t (*destroy)(T);
  void operator()(T x) const { destroy(x); }
};
template <class T>
using library_object = std::unique_ptr<std::remove_pointer_t<T>, library_deleter<T>>;

/// How the library multiplies arrays of floats with tiles of this shape.
template <class Tile>
constexpr cublasComputeType_t library_arithmetic() {
  if constexpr (requires { typename Tile::format; }) {
    using format = typename Tile::format;
    if constexpr (__is_same(format, float32_format))
      return CUBLAS_COMPUTE_32F;
    else if constexpr (__is_same(format, tf32_format))
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    else if constexpr (__is_same(format, bfloat16_format))
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    else
      return CUBLAS_COMPUTE_32F_FAST_16F;
  } else {
    return CUBLAS_COMPUTE_32F;
  }
}

template <class Tile>
using rule_of_tile = std::conditional_t<library_arithmetic<Tile>() == CUBLAS_COMPUTE_32F,
                                        largest_products, large_products>;

}  // namespace detail

/// `Base` with the products that `Rule` takes done by cuBLASLt, in the arithmetic of its tiles:
/// sums and arrays are floats. Bias and relu behind a product are its epilogue. Parts of sums are
/// added by a step of their own, so that equal inputs give equal bits.
template <class Base, class Rule = detail::rule_of_tile<typename Base::product_tile>>
class library_backend : public Base {
 public:
  using rule_of_library = Rule;

  LAMINA_COLD explicit library_backend(int number = 0) : Base(number) {
    cublasLtHandle_t made = nullptr;
    check(cublasLtCreate(&made), "cublasLtCreate");
    library_ = detail::library_object<cublasLtHandle_t>(made, {&cublasLtDestroy});
  }
  /// Multiplies, with library_floats to work in; false where the library has no way to do it.
  bool multiply(const library_product& p, float* workspace) {
    if (!p.has_packs()) return false;
    call& found = find(p);
    if (!found.exists) return false;
    if (p.epilogue != library_epilogue::none) set_bias(found, p.bias);
    const float one = 1, zero = 0;
    // The library counts columns first: its left side is our right one.
    check(cublasLtMatmul(library_.get(), found.how.get(), &one, p.right.data, found.right.get(),
                         p.left.data, found.left.get(), &zero, p.to, found.to.get(), p.to,
                         found.to.get(), &found.algorithm, workspace, workspace_bytes,
                         this->stream()),
          "cublasLtMatmul");
    return true;
  }

 private:
  using layout = detail::library_object<cublasLtMatrixLayout_t>;
  /// A product of these sizes as the library does it.
  struct call {
    library_product of;
    bool exists = false;
    detail::library_object<cublasLtMatmulDesc_t> how;
    layout left, right, to;
    cublasLtMatmulAlgo_t algorithm;
  };
  static constexpr std::size_t workspace_bytes =
      static_cast<std::size_t>(library_floats) * sizeof(float);
  static constexpr std::size_t most_calls = 256;

  void check(cublasStatus_t found, const char* name) {
    if (found != CUBLAS_STATUS_SUCCESS) this->fail_in_group(name, cublasLtGetStatusString(found));
  }
  call& find(const library_product& p) {
    for (call& known : calls_)
      if (known.of.is_like(p)) return known;
    return make(p);
  }
  LAMINA_COLD call& make(const library_product& p) {
    if (calls_.size() >= most_calls) calls_.clear();
    call made{p, false, {}, {}, {}, {}, {}};
    cublasLtMatmulDesc_t how = nullptr;
    check(cublasLtMatmulDescCreate(&how, detail::library_arithmetic<typename Base::product_tile>(),
                                   CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    made.how = {how, {&cublasLtMatmulDescDestroy}};
    set(made, CUBLASLT_MATMUL_DESC_TRANSA, p.right.turned ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(made, CUBLASLT_MATMUL_DESC_TRANSB, p.left.turned ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (p.epilogue != library_epilogue::none) {
      set(made, CUBLASLT_MATMUL_DESC_EPILOGUE,
          p.epilogue == library_epilogue::bias ? CUBLASLT_EPILOGUE_BIAS
                                               : CUBLASLT_EPILOGUE_RELU_BIAS);
      set_bias(made, p.bias);
    }
    made.right = layout_of(p.columns, p.depth, p.right);
    made.left = layout_of(p.depth, p.rows, p.left);
    made.to = layout_of(p.columns, p.rows, {p.to, p.stride, false});
    choose(made);
    return calls_.emplace_back(std::move(made));
  }
  /// As it lies in memory: what is turned has its rows where the other one has columns.
  LAMINA_COLD layout layout_of(int down, int across, const library_product::side& s) {
    if (s.turned) std::swap(down, across);
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(down),
                                     static_cast<std::uint64_t>(across), s.stride),
          "cublasLtMatrixLayoutCreate");
    return {made, {&cublasLtMatrixLayoutDestroy}};
  }
  template <class T>
  void set(call& c, cublasLtMatmulDescAttributes_t attribute, const T& x) {
    static_assert(sizeof(T) == sizeof(std::int32_t) || std::is_pointer_v<T>);
    check(cublasLtMatmulDescSetAttribute(c.how.get(), attribute, &x, sizeof(x)),
          "cublasLtMatmulDescSetAttribute");
  }
  void set_bias(call& c, const float* bias) {
    set(c, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias));
  }
  /// The way that the library thinks fastest, of those that do the same each time.
  LAMINA_COLD void choose(call& c) {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const detail::library_object<cublasLtMatmulPreference_t> wanted(
        made, {&cublasLtMatmulPreferenceDestroy});
    const auto want = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto x) {
      check(cublasLtMatmulPreferenceSetAttribute(made, attribute, &x, sizeof(x)),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    want(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
    want(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    for (const auto a :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      want(a, std::uint32_t{16});
    cublasLtMatmulHeuristicResult_t best{};
    int count = 0;
    const cublasStatus_t found =
        cublasLtMatmulAlgoGetHeuristic(library_.get(), c.how.get(), c.right.get(), c.left.get(),
                                       c.to.get(), c.to.get(), made, 1, &best, &count);
    if (found == CUBLAS_STATUS_NOT_SUPPORTED) return;
    check(found, "cublasLtMatmulAlgoGetHeuristic");
    c.exists = count > 0 && best.state == CUBLAS_STATUS_SUCCESS;
    c.algorithm = best.algo;
  }

  detail::library_object<cublasLtHandle_t> library_{nullptr, {&cublasLtDestroy}};
  std::vector<call> calls_;
};

}  // namespace lamina::engine::cuda
