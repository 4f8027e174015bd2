// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/product.cuh - the description of a matrix product for a backend, and the
// statements of a group that the product itself can run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/expression/expression.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// The operation on the sums of a product before they are stored. It never includes the relu of
/// cuBLASLt, which returns 0 for NaN.
enum class product_epilogue : std::uint8_t { none, bias };

/// to[rows, columns] = epilogue(alpha * left[rows, depth] * right[depth, columns] + bias[columns]),
/// once for each of `batches`. Matrices are row-major: rows are `stride` floats apart, matrices
/// `batch_stride` floats.
struct product {
  struct side {
    const float* data;
    std::ptrdiff_t stride;
    bool turned = false;              // stored with rows and columns exchanged
    std::ptrdiff_t batch_stride = 0;  // 0: one matrix serves all batches
  };
  int rows, columns, depth;
  side left, right;
  float* to;
  std::ptrdiff_t stride, batch_stride = 0;
  int batches = 1;
  float alpha = 1;
  product_epilogue epilogue = product_epilogue::none;
  const float* bias = nullptr;
};

/// Computes the results of a product of depth 0.
struct empty_product_body {
  struct arguments {
    product p;
    int count;  // elements of all batches
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const product& p = a.p;
    const int column = i % p.columns, row = i / p.columns % p.rows, batch = i / p.columns / p.rows;
    p.to[batch * p.batch_stride + row * p.stride + column] =
        p.epilogue == product_epilogue::none ? 0.0f : p.bias[column];
  }
};

/// Multiplies by b.multiply(product, workspace), which is never asked for an empty product. The
/// workspace has Backend::product_workspace floats and begins at a multiple of 256 bytes.
template <class Backend>
void run_product(Backend& b, const product& p, float* workspace) {
  if (p.rows <= 0 || p.columns <= 0 || p.batches <= 0) return;
  if (p.depth > 0) return b.multiply(p, workspace);
  b.template elements<empty_product_body>({p, p.batches * p.rows * p.columns});
}

/// The statements of a group that the epilogue of its product can run. A kernel runs all others on
/// the finished product (after_product.cuh).
template <class S>
struct epilogue_statements {
  static constexpr bool exists = false;
};
template <int Store>
struct epilogue_statements<
    expression::statements<expression::let<keep, 0, Store, expression::head_value>>> {
  static constexpr bool exists = true;
  static constexpr product_epilogue epilogue = product_epilogue::none;
  static constexpr int store = Store, bias = -1;
};
template <int Store, int Bias>
struct epilogue_statements<expression::statements<
    expression::let<elementwise_add, 0, Store, expression::head_value, expression::row<Bias>>>> {
  static constexpr bool exists = true;
  static constexpr product_epilogue epilogue = product_epilogue::bias;
  static constexpr int store = Store, bias = Bias;
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
