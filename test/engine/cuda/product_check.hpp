// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/product_check.hpp - products of many layouts by a backend, against three loops
// in double.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/device/device_buffer.hpp>

namespace test {

namespace cuda = lamina::engine::cuda;

/// What a product is like; `apart`: floats between its rows, its matrices and the begin of memory.
struct product_case {
  int rows, columns, depth;
  bool left_turned = false, right_turned = false;
  int batches = 1;
  bool left_serves_all = false, right_serves_all = false;
  int apart = 0;
  float alpha = 1;
  cuda::product_epilogue epilogue = cuda::product_epilogue::none;

  std::string name() const {
    return std::to_string(batches) + " x [" + std::to_string(rows) + ", " + std::to_string(depth) +
           (left_turned ? "]T * [" : "] * [") + std::to_string(depth) + ", " +
           std::to_string(columns) + (right_turned ? "]T, " : "], ") + std::to_string(apart) +
           " apart" + (left_serves_all ? ", one left" : "") +
           (right_serves_all ? ", one right" : "") + ", epilogue " +
           std::to_string(static_cast<int>(epilogue));
  }
};

/// What is wrong with a product of random numbers by a backend; nothing if it is right.
template <class Backend>
std::string product_fault(Backend& b, const product_case& c) {
  struct matrices {
    std::ptrdiff_t stride, batch_stride, begin;
    std::size_t floats;
    matrices(int rows, int columns, int count, int apart)
        : stride(columns + apart),
          batch_stride(count > 1 ? rows * stride + apart : 0),
          begin(apart),
          floats(static_cast<std::size_t>(
              begin + (count > 1 ? count : 1) * (rows * stride + apart) + columns)) {}
  };
  const matrices left(c.left_turned ? c.depth : c.rows, c.left_turned ? c.rows : c.depth,
                      c.left_serves_all ? 1 : c.batches, c.apart);
  const matrices right(c.right_turned ? c.columns : c.depth, c.right_turned ? c.depth : c.columns,
                       c.right_serves_all ? 1 : c.batches, c.apart);
  const matrices to(c.rows, c.columns, c.batches, c.apart);
  const std::size_t bias = static_cast<std::size_t>(c.columns) + 1;
  // One behind the other on the device, each at a multiple of 64 floats.
  std::vector<float> host;
  const auto add = [&](std::size_t floats) {
    const std::size_t at = host.size();
    host.resize((at + floats + 63) / 64 * 64);
    return static_cast<std::ptrdiff_t>(at);
  };
  const std::ptrdiff_t left_at = add(left.floats) + left.begin;
  const std::ptrdiff_t right_at = add(right.floats) + right.begin;
  const std::ptrdiff_t bias_at = add(bias), to_at = add(to.floats) + to.begin;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& x : host) x = number(random);
  std::vector<float> expected = host, found(host.size());
  for (int n = 0; n < c.batches; ++n)
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < c.columns; ++j) {
        double sum = 0;
        for (int k = 0; k < c.depth; ++k) {
          const std::ptrdiff_t l = c.left_turned ? k * left.stride + i : i * left.stride + k;
          const std::ptrdiff_t r = c.right_turned ? j * right.stride + k : k * right.stride + j;
          sum += static_cast<double>(
                     host[static_cast<std::size_t>(left_at + n * left.batch_stride + l)]) *
                 static_cast<double>(
                     host[static_cast<std::size_t>(right_at + n * right.batch_stride + r)]);
        }
        sum *= static_cast<double>(c.alpha);
        if (c.epilogue != cuda::product_epilogue::none)
          sum += static_cast<double>(host[static_cast<std::size_t>(bias_at + j)]);
        expected[static_cast<std::size_t>(to_at + n * to.batch_stride + i * to.stride + j)] =
            static_cast<float>(sum);
      }
  cuda::device_buffer<Backend> memory(b);
  cuda::staging_buffer<Backend> staged(b);
  const std::size_t bytes = host.size() * sizeof(float);
  memory.reserve(bytes + static_cast<std::size_t>(Backend::product_workspace) * sizeof(float));
  staged.reserve(bytes);
  std::memcpy(staged.data(), host.data(), bytes);
  b.upload(memory.data(), staged.data(), bytes);
  float* const at = reinterpret_cast<float*>(memory.data());
  cuda::product p{c.rows,
                  c.columns,
                  c.depth,
                  {at + left_at, left.stride, c.left_turned, left.batch_stride},
                  {at + right_at, right.stride, c.right_turned, right.batch_stride},
                  at + to_at,
                  to.stride,
                  to.batch_stride,
                  c.batches,
                  c.alpha,
                  c.epilogue,
                  at + bias_at};
  cuda::run_product(b, p, at + host.size());
  b.download(staged.data(), memory.data(), bytes);
  b.wait();
  std::memcpy(found.data(), staged.data(), bytes);
  // Nothing else is written.
  for (std::size_t i = 0; i < host.size(); ++i)
    if (!(std::abs(found[i] - expected[i]) <= 1e-5f * static_cast<float>(1 + c.depth)))
      return c.name() + ": expected " + std::to_string(expected[i]) + " at " + std::to_string(i) +
             ", found " + std::to_string(found[i]) + "\n";
  return {};
}

/// What is wrong with products at the edges: one row, one column, odd sizes, turned sides, batches,
/// one matrix for all of them, arrays that are not aligned, epilogues.
template <class Backend>
std::string product_faults(Backend& b) {
  std::string all;
  const int sizes[][3] = {{1, 1, 1}, {1, 16, 33}, {17, 1, 5}, {7, 13, 1}, {16, 32, 48}, {5, 3, 19}};
  for (const auto& [rows, columns, depth] : sizes)
    for (const bool left : {false, true})
      for (const bool right : {false, true})
        for (const int apart : {0, 3, 4}) {
          product_case c{rows, columns, depth, left, right};
          c.apart = apart;
          all += product_fault(b, c);
          c.epilogue = cuda::product_epilogue::bias;
          all += product_fault(b, c);
          c.epilogue = cuda::product_epilogue::none;
          c.alpha = -0.5f;
          c.batches = 3;
          all += product_fault(b, c);
          c.left_serves_all = true;
          all += product_fault(b, c);
          c.left_serves_all = false, c.right_serves_all = true;
          all += product_fault(b, c);
        }
  return all;
}

/// Products without results or without terms.
inline std::vector<product_case> empty_products() {
  std::vector<product_case> all = {{0, 3, 4}, {3, 0, 4}, {3, 5, 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    all.push_back(all[i]);
    all.back().batches = 2;
    all.back().apart = 3;
  }
  all.push_back({3, 5, 0});
  all.back().epilogue = cuda::product_epilogue::bias;
  all.push_back({3, 5, 7});
  all.back().batches = 0;
  return all;
}

}  // namespace test
