// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/product.cuh - describes a matrix product for a backend, and finds the
// statements of a group that can run in the epilogue of the product.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/expression/expression.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The operation on the results of a product before they are stored. The relu of cuBLASLt is never
/// used, because it returns 0 for NaN.
enum class product_epilogue : std::uint8_t { none, bias };

/// A batch of `batches` matrix products: to[rows, columns] = epilogue(alpha * left[rows, depth] *
/// right[depth, columns] + bias[columns]). Matrices are row-major. Consecutive rows are `stride`
/// floats apart, consecutive matrices `batch_stride` floats.
struct product {
  struct side {
    const float* data;
    std::ptrdiff_t stride;
    bool turned = false;              // stored transposed
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

/// Stores the results of a product of depth 0: zeros, or the bias.
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

/// Runs a product by b.multiply(product, workspace), except for empty products and for depth 0. The
/// workspace has Backend::product_workspace floats and begins at a multiple of 256 bytes.
template <class Backend>
void run_product(Backend& b, const product& p, float* workspace) {
  if (p.rows <= 0 || p.columns <= 0 || p.batches <= 0) return;
  if (p.depth > 0) return b.multiply(p, workspace);
  b.template elements<empty_product_body>({p, p.batches * p.rows * p.columns});
}

/// Whether the epilogue of a product can run all statements of its group, and with which arguments.
/// Otherwise a separate kernel runs the statements on the finished product (after_product.cuh).
template <class S>
struct epilogue_statements {
  static constexpr bool exists = false;
};
template <int Store>
struct epilogue_statements<
    expression::statements<expression::let<operators::keep, 0, Store, expression::head_value>>> {
  static constexpr bool exists = true;
  static constexpr product_epilogue epilogue = product_epilogue::none;
  static constexpr int store = Store, bias = -1;
};
template <int Store, int Bias>
struct epilogue_statements<expression::statements<expression::let<
    operators::elementwise_add, 0, Store, expression::head_value, expression::row<Bias>>>> {
  static constexpr bool exists = true;
  static constexpr product_epilogue epilogue = product_epilogue::bias;
  static constexpr int store = Store, bias = Bias;
};

}}}  // namespace lamina::engine::cuda
