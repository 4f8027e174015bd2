// SPDX-License-Identifier: Apache-2.0
// test/operators/loss/loss_rows.hpp - one row per cost.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void loss(To& to) {
  const auto losses = [&](const char* name, auto f, std::vector<float> x, std::vector<float> y,
                          std::vector<std::string> constant = {"y"}) {
    using F = decltype(f);
    to.write(
        name,
        []<class T>(block& main) {
          auto p = layer::data<"x", T, 1>(main);
          return squared(F{}(p, layer::data<"y", T, 1>(main)));
        },
        row_options{.feed = {{"x", column(x)}, {"y", column(y)}},
                    .constant = constant,
                    .edges = edge_kind::values});
  };
  const auto ranks = [&](const char* name, auto f) {
    using F = decltype(f);
    to.write(
        name,
        []<class T>(block& main) {
          auto label = layer::data<"label", T, 1>(main);
          auto left = layer::data<"left", T, 1>(main);
          return squared(F{}(label, left, layer::data<"right", T, 1>(main)));
        },
        row_options{.feed = {{"label", column({1, 0, 1})}},
                    .constant = {"label"},
                    .edges = edge_kind::values});
  };
  binary(to, "sigmoid_cross_entropy_with_logits",
         [](auto x, auto y) { return layer::sigmoid_cross_entropy_with_logits(x, y); },
         {.feed = {{"y", tensor({3, 4}, std::vector<float>{0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0})}},
          .constant = {"y"}});
  losses("log_loss", [](auto x, auto y) { return layer::log_loss(x, y); }, {0.2f, 0.9f, 0.6f},
         {0, 1, 1});
  losses("hinge_loss", [](auto x, auto y) { return layer::hinge_loss(x, y); }, {0.2f, -0.9f, 1.6f},
         {0, 1, 1});
  losses("huber_loss", [](auto x, auto y) { return layer::huber_loss(x, y, 0.5f); },
         {0.2f, -0.9f, 1.6f}, {0, 1, 1.5f}, {});
  losses("modified_huber_loss", [](auto x, auto y) { return layer::modified_huber_loss(x, y); },
         {0.2f, -1.9f, 1.6f}, {0, 1, 1});
  binary(
      to, "smooth_l1_loss", [](auto x, auto y) { return layer::smooth_l1(x, y); }, wide);
  binary(to, "kldiv_loss", [](auto x, auto y) { return layer::kldiv_loss(x, y); },
         {.low = 0.2f, .high = 2, .constant = {"y"}});
  ranks("rank_loss", [](auto l, auto a, auto b) { return layer::rank_loss(l, a, b); });
  ranks("margin_rank_loss",
        [](auto l, auto a, auto b) { return layer::margin_rank_loss(l, a, b); });
  labelled(to, "softmax_with_cross_entropy",
           [](auto x, auto y) { return layer::softmax_with_cross_entropy(x, y); });
  labelled(to, "cross_entropy",
           [](auto x, auto y) { return layer::cross_entropy(layer::softmax(x), y); });
  labelled(to, "bpr_loss", [](auto x, auto y) { return layer::bpr_loss(x, y); });
  to.write("soft_cross_entropy",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return squared(layer::softmax_with_cross_entropy(
                 x, layer::softmax(layer::data<"y", T, 4>(main))));
           },
           {.constant = {"y"}});
  of_rows(to, "label_smooth", [](auto x) { return layer::label_smooth(layer::softmax(x)); });
  to.write("ctc_align",
           []<class T>(block& main) {
             return layer::ctc_greedy_decoder<"labels">(layer::sequence<"x", T, 4>(main));
           },
           {.gradients = false});
  to.write("warpctc",
           []<class T>(block& main) {
             auto x = layer::sequence<"x", T, 5>(main);
             return squared(layer::warpctc(x, layer::sequence<"label", std::int32_t>(main)));
           },
           {.feed = {{"x", noise({9, 5}, {4, 2, 3})},
                     {"label", ids_of({1, 1, 3, 2, 4}, {2, 1, 2}, lamina::dtype::int32)}},
            .any_rows = false});
  to.write("linear_chain_crf", []<class T>(block& main) {
    auto x = layer::sequence<"x", T, 4>(main);
    return squared(layer::linear_chain_crf(x, layer::sequence<"label", integer>(x)));
  });
  to.write(
      "crf_decoding",
      []<class T>(block& main) { return layer::crf_decoding(layer::sequence<"x", T, 4>(main)); },
      {.gradients = false});
}

}  // namespace rows
