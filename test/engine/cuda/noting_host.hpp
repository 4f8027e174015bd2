// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/noting_host.hpp - a host that notes how long the chains are that it runs.
#pragma once

#include <vector>

#include <lamina/engine/cuda/chain_body.hpp>
#include <lamina/engine/cuda/chain_gradient_body.hpp>
#include <lamina/engine/cuda/row_pass_body.hpp>

namespace test {

namespace cuda = lamina::engine::cuda;

template <class Body>
inline constexpr int links_of = 0;
/// Is added to the links of a chain that adds up gradients of weights.
inline constexpr int with_gradients = 100;
/// Is added to the steps of what teams do that take a pack of rows.
inline constexpr int of_few_rows = 200;
template <bool Turned, class Shape, class... L>
inline constexpr int links_of<cuda::chain_body<Turned, Shape, L...>> = sizeof...(L);
template <int Threads, class... Steps>
inline constexpr int links_of<cuda::row_pass_body<Threads, Steps...>> = of_few_rows +
                                                                        sizeof...(Steps);
template <unsigned Weights, unsigned Biases, class Shape, class... L>
inline constexpr int links_of<cuda::chain_gradient_body<Weights, Biases, Shape, L...>> =
    with_gradients + sizeof...(L);

/// A host that notes how long the chains are that it runs.
template <class Base>
struct noting_host : Base {
  using Base::Base;
  std::vector<int> links;
  template <class Body>
  void teams(const typename Body::arguments& g) {
    if (links_of < Body >> 0) links.push_back(links_of<Body>);
    Base::template teams<Body>(g);
  }
};

}  // namespace test
