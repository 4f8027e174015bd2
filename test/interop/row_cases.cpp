// SPDX-License-Identifier: Apache-2.0
// Cases of operators over rows and shapes: products, reductions, shapes, costs, images.
#include <interop/case_writer.hpp>

namespace interop {
namespace {

/// One operator of x [3, 2, 4].
template <class F>
void of_matrices(case_writer& to, const char* name, F, const case_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 2, 4>(main))); },
      options);
}
/// One operator of x [3, 4].
template <class F>
void of_rows(case_writer& to, const char* name, F, const case_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 4>(main))); },
      options);
}

void write_products(case_writer& to) {
  to.write("mul", []<class T>(block& main) {
    return squared(layer::fc<3>(layer::data<"x", T, 4>(main), {.bias = false}));
  });
  to.write("fc", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4>(main);
    return squared(layer::fc<3>(x, {.act = lamina::activation::tanh}));
  });
  to.write("matmul", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4>(main);
    return squared(layer::matmul(x, layer::data<"y", T, 4, 3>(main)));
  });
  to.write("matmul_transposed", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4, 2>(main);
    return squared(layer::matmul<layer::matmul_form{.transpose_x = true, .transpose_y = true}>(
        x, layer::data<"y", T, 3, 4>(main), {.alpha = 0.5f}));
  });
  to.write("lookup_table", []<class T>(block& main) {
    return squared(layer::embedding<5, 3, T>(layer::data<"ids", integer>(main)));
  });
  to.write("lookup_table_padding", []<class T>(block& main) {
    return squared(
        layer::embedding<5, 3, T>(layer::data<"ids", integer>(main), {.padding_idx = 1}));
  });
  to.write("cos_sim", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    return squared(layer::cos_sim(x, layer::data<"y", T, 4>(main)));
  });
}

void write_reductions(case_writer& to) {
  const case_options positive{.low = 0.2f, .high = 2};
  of_rows(to, "mean", [](auto x) { return layer::mean(x); });
  of_matrices(to, "reduce_sum", [](auto x) { return layer::reduce_sum<1>(x); });
  of_matrices(to, "reduce_sum_all", [](auto x) { return layer::reduce_sum(x); });
  of_matrices(to, "reduce_sum_keep",
              [](auto x) { return layer::reduce_sum<2>(x, layer::keep_dim); });
  of_matrices(to, "reduce_mean", [](auto x) { return layer::reduce_mean<1>(x); });
  of_matrices(to, "reduce_max", [](auto x) { return layer::reduce_max<2>(x); });
  of_matrices(to, "reduce_min", [](auto x) { return layer::reduce_min<2>(x); });
  of_matrices(
      to, "reduce_prod", [](auto x) { return layer::reduce_prod<2>(x); }, positive);
  to.write("reduce_all",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return layer::reduce_all<1>(layer::greater_than(x, layer::scale(x, 0.1f)));
           },
           {.gradients = false});
  to.write("reduce_any",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return layer::reduce_any<1>(layer::greater_than(x, layer::scale(x, 0.1f)));
           },
           {.gradients = false});
  of_matrices(to, "cumsum", [](auto x) { return layer::cumsum<1>(x); });
  of_matrices(to, "cumsum_reverse",
              [](auto x) { return layer::cumsum(x, {.exclusive = true, .reverse = true}); });
  of_rows(to, "top_k", [](auto x) { return std::get<0>(layer::topk<2>(x)); });
  to.write("top_k_indices",
           []<class T>(block& main) {
             return std::get<1>(layer::topk<2>(layer::data<"x", T, 4>(main)));
           },
           {.gradients = false});
  of_rows(to, "layer_norm", [](auto x) { return layer::layer_norm(x); });
  of_rows(to, "norm", [](auto x) { return layer::l2_normalize(x); });
  of_rows(to, "softmax", [](auto x) { return layer::softmax(x); });
}

void write_shapes(case_writer& to) {
  of_matrices(to, "reshape2", [](auto x) { return layer::reshape<-1, 8>(x); });
  of_matrices(to, "transpose2", [](auto x) { return layer::transpose<0, 2, 1>(x); });
  of_matrices(to, "flatten2", [](auto x) { return layer::flatten(x); });
  of_matrices(to, "unsqueeze2", [](auto x) { return layer::unsqueeze<1>(x); });
  of_matrices(to, "squeeze2", [](auto x) { return layer::squeeze<1>(layer::unsqueeze<1>(x)); });
  of_matrices(to, "concat", [](auto x) { return layer::concat<2>({x, layer::square(x)}); });
  of_matrices(to, "stack", [](auto x) { return layer::stack<1>({x, layer::square(x)}); });
  of_matrices(to, "split", [](auto x) { return std::get<1>(layer::split<2, 2>(x)); });
  of_matrices(to, "slice", [](auto x) { return layer::slice<layer::along<2, 1, 3>>(x); });
  of_matrices(to, "pad", [](auto x) { return layer::pad<0, 0, 1, 0, 0, 2>(x, 0.5f); });
  of_matrices(to, "expand", [](auto x) { return layer::expand<1, 2, 1>(x); });
  to.write("gather",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return squared(layer::gather(x, layer::data<"index", integer>(main)));
           },
           {.integers = 3, .any_rows = false});
  of_matrices(to, "unstack", [](auto x) { return layer::unstack<1>(x)[1]; });
  of_matrices(to, "crop", [](auto x) { return layer::crop<layer::offsets<0, 1, 0>, 1, 3>(x); });
  to.write("crop_like", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4>(main);
    auto like = layer::slice<layer::along<1, 0, 1>, layer::along<2, 0, 2>>(x);
    return squared(layer::crop<layer::offsets<0, 1, 1>>(x, like));
  });
  of_rows(to, "argsort", [](auto x) { return std::get<0>(layer::argsort(x)); });
  of_matrices(to, "argsort_descending",
              [](auto x) { return std::get<0>(layer::argsort<1>(x, {.descending = true})); });
  to.write("argsort_indices",
           []<class T>(block& main) {
             return std::get<1>(layer::argsort(layer::data<"x", T, 4>(main)));
           },
           {.gradients = false});
  to.write("arg_max",
           []<class T>(block& main) { return layer::argmax<1>(layer::data<"x", T, 4>(main)); },
           {.gradients = false});
  to.write("arg_min",
           []<class T>(block& main) { return layer::argmin<0>(layer::data<"x", T, 2, 4>(main)); },
           {.gradients = false});
  const tensor places({3, 1}, std::vector<integer>{2, 0, 1});
  const auto scattered = [&](const char* name, auto overwrite) {
    using O = decltype(overwrite);
    to.write(name,
             []<class T>(block& main) {
               auto x = layer::data<"x", T, 2, 4>(main);
               auto ids = layer::data<"ids", integer>(main);
               auto with = layer::data<"with", T, 2, 4>(main);
               return squared(layer::scatter(x, ids, with, {.overwrite = O::value}));
             },
             {.feed = {{"ids", places}}, .any_rows = false});
  };
  scattered("scatter", std::true_type{});
  scattered("scatter_add", std::false_type{});
  to.write("multiplex",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             auto ids = layer::data<"ids", std::int32_t>(main);
             return squared(layer::multiplex({x, layer::square(x), layer::sin(x)}, ids));
           },
           {.integers = 3});
  to.write("one_hot", lamina::program([](block& main) {
             return layer::one_hot<5>(layer::data<"ids", integer>(main));
           }),
           {.gradients = false});
}

void write_costs(case_writer& to) {
  const auto labelled = [&](const char* name, auto f, const case_options& options = {}) {
    using F = decltype(f);
    to.write(
        name,
        []<class T>(block& main) {
          auto x = layer::data<"x", T, 4>(main);
          return squared(F{}(x, layer::data<"label", integer>(main)));
        },
        options);
  };
  labelled("softmax_with_cross_entropy",
           [](auto x, auto y) { return layer::softmax_with_cross_entropy(x, y); });
  labelled("cross_entropy",
           [](auto x, auto y) { return layer::cross_entropy(layer::softmax(x), y); });
  labelled("bpr_loss", [](auto x, auto y) { return layer::bpr_loss(x, y); });
  to.write("soft_cross_entropy", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    return squared(
        layer::softmax_with_cross_entropy(x, layer::softmax(layer::data<"y", T, 4>(main))));
  });
  to.write("accuracy",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return layer::accuracy(x, layer::data<"label", integer>(main));
           },
           {.gradients = false});
  to.write("auc",
           []<class T>(block& main) {
             auto p = layer::softmax(layer::data<"x", T, 2>(main));
             return layer::auc(p, layer::data<"label", integer>(main));
           },
           {.integers = 2, .gradients = false, .rows = 20, .any_rows = false});
  of_rows(to, "label_smooth", [](auto x) { return layer::label_smooth(layer::softmax(x)); });
  of_rows(to, "dropout_test", [](auto x) { return layer::dropout(x, 0.25f, {.is_test = true}); });
}

void write_images(case_writer& to) {
  using lamina::window;
  const auto image = [&](const char* name, auto f) {
    using F = decltype(f);
    to.write(name,
             []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 2, 5, 6>(main))); });
  };
  image("conv2d", [](auto x) { return layer::conv2d<3, 3>(x); });
  image("conv2d_stride",
        [](auto x) { return layer::conv2d<3, 3, window{.stride = 2, .padding = 1}>(x); });
  image("pool2d_max", [](auto x) { return layer::pool2d<2, window{.stride = 2}>(x); });
  image("pool2d_average", [](auto x) {
    return layer::pool2d<3, window{.stride = 2, .padding = 1}>(
        x, {.type = lamina::pooling_type::average});
  });
  image("pool2d_global",
        [](auto x) { return layer::global_pool2d(x, {.type = lamina::pooling_type::average}); });
  image("maxout", [](auto x) { return layer::maxout<2>(x); });
}

/// What only a run tells of a variable.
void write_queries(case_writer& to) {
  to.write("shape",
           []<class T>(block& main) { return layer::shape(layer::data<"x", T, 2, 4>(main)); },
           {.gradients = false});
  to.write("is_empty",
           []<class T>(block& main) { return layer::is_empty(layer::data<"x", T, 2, 4>(main)); },
           {.gradients = false});
  to.write("where_index",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 2, 4>(main);
             return layer::where<"found">(layer::greater_than(x, layer::square(x)));
           },
           {.gradients = false});
  to.write("range",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return std::tuple{layer::range<1, 12, 4>(main), x + layer::range<T, 4, 0, -1>(main)};
           },
           {.gradients = false});
  of_matrices(to, "l1_norm", [](auto x) { return layer::l1_norm(x); });
  of_matrices(to, "squared_l2_norm", [](auto x) { return layer::squared_l2_norm(x); });
  to.write("minus", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    return squared(layer::minus(layer::square(x), x));
  });
  to.write("squared_l2_distance", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    return squared(layer::squared_l2_distance(x, layer::data<"y", T, 4>(main)));
  });
}

}  // namespace

void write_row_cases(case_writer& to) {
  write_products(to);
  write_reductions(to);
  write_shapes(to);
  write_queries(to);
  write_costs(to);
  write_images(to);
}

}  // namespace interop
