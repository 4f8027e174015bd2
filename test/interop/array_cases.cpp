// SPDX-License-Identifier: Apache-2.0
// Cases of constants of many values, arrays, and the steps and sentences of a beam search; the
// operators that branches and recurrences consist of, outside of blocks: gradient blocks keep
// lamina's form, so whole branches and recurrences with gradients are no cases for PaddlePaddle.
#include <interop/case_writer.hpp>
#include <interop/held_values.hpp>

#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>
#include <lamina/operators/decode/beam_search/layer.hpp>
#include <lamina/operators/decode/beam_search/layer_decode.hpp>

namespace interop {
namespace {

void write_beam_cases(case_writer& to) {
  const auto ids_of = [](lamina::tensor_shape shape, std::vector<integer> ids,
                         const std::vector<lamina::lod::level>& lengths) {
    return lod_tensor(tensor(std::move(shape), ids), lamina::lod::from_lengths(lengths));
  };
  const auto reals_of = [](lamina::tensor_shape shape, std::vector<float> values,
                           const std::vector<lamina::lod::level>& lengths) {
    return lod_tensor(tensor(std::move(shape), values), lamina::lod::from_lengths(lengths));
  };
  // Hypotheses 0 and 1, of which one has ended, continue the first sample, 2 and 3 the second.
  to.write(
      "beam_search",
      []<class T>(block& main) {
        auto before = layer::nested_sequence<"before", integer>(main);
        auto so_far = layer::sequence<"so_far", T>(before);
        auto ids = layer::sequence<"ids", integer, 3>(before);
        auto scores = layer::sequence<"scores", T, 3>(before);
        auto [kept, score, parent] = layer::beam_search<"beam">(before, so_far, ids, scores, 2, 0);
        return std::tuple{kept, score};
      },
      {.feed =
           {{"before", ids_of({4, 1}, {0, 2, 3, 4}, {{2, 2}, {1, 1, 1, 1}})},
            {"so_far", reals_of({4, 1}, {.6f, .1f, .3f, .4f}, {{2, 2}, {1, 1, 1, 1}})},
            {"ids", ids_of({4, 3}, {4, 2, 5, 2, 1, 3, 3, 5, 2, 8, 2, 1}, {{2, 2}, {1, 1, 1, 1}})},
            {"scores",
             reals_of({4, 3}, {.9f, .8f, .75f, .7f, .3f, .1f, .4f, .5f, .15f, .65f, .55f, .2f},
                      {{2, 2}, {1, 1, 1, 1}})}},
       .gradients = false,
       .any_rows = false});
  to.write("beam_search_decode",
           []<class T>(block& main) {
             auto ids = layer::nested_sequence<"beam", integer>(main);
             auto scores = layer::sequence<"scores", T>(ids);
             auto i = layer::fill_constant<integer>(main, 0);
             auto id_steps = layer::array_write(ids, i);
             auto score_steps = layer::array_write(scores, i);
             for (int step = 0; step < 3; ++step) {
               auto next = layer::embedding<5, 5, T>(ids, {.param = {.name = "bigram"}});
               auto all = layer::elementwise_add<0>(next, scores);
               auto kept = layer::beam_search<"beam">(ids, scores, all, 2, 0);
               ids = std::get<0>(kept);
               scores = std::get<1>(kept);
               layer::increment(i);
               layer::array_write(ids, i, id_steps);
               layer::array_write(scores, i, score_steps);
             }
             return layer::beam_search_decode<"found">(id_steps, score_steps, 2, 0);
           },
           {.feed = {{"beam", ids_of({3, 1}, {1, 2, 3}, {{1, 1, 1}, {1, 1, 1}})},
                     {"scores", reals_of({3, 1}, {0, 0, 0}, {{1, 1, 1}, {1, 1, 1}})}},
            .gradients = false,
            .any_rows = false});
}

/// A new variable like handle V, outside of any layer.
template <class V>
constexpr V made(lamina::program_builder& b) {
  return layer::layer_helper(b, "made").template output<V>();
}

struct positive_rows {};
struct other_rows {};

/// x split by the sign of its first column, both halves scaled, and merged again.
template <class T, class R, int... D>
constexpr auto split_and_merged(const lamina::variable<T, R, D...>& x) {
  using positive = lamina::chosen<R, positive_rows>;
  using other = lamina::chosen<R, other_rows>;
  lamina::program_builder& b = *x.builder;
  const auto first = layer::slice<layer::along<1, 0, 1>>(x);
  const auto mask = layer::greater_than(first, layer::scale(first, 0.5f));
  const int rows = lamina::rows_of<R>(b), level = b.attribute_list(0);
  const int yes =
      b.open_domain(&lamina::domain_mark<positive>, "true", rows, lamina::domain_kind::subset, -1);
  const int no =
      b.open_domain(&lamina::domain_mark<other>, "false", rows, lamina::domain_kind::subset, -1);
  const auto is = made<lamina::variable<bool, positive, 1>>(b);
  const auto is_not = made<lamina::variable<bool, other, 1>>(b);
  for (const int v : {is.id, is_not.id}) b.variables[v].stop_gradient = true;
  b.domains[yes].chosen_by = is.id;
  b.domains[no].chosen_by = is_not.id;
  const auto split = [&](int from, int in_true, int in_false) {
    b.add_operator(lamina::schema_of<lamina::split_lod_tensor>(), {from, mask.id},
                   {in_true, in_false}, level);
  };
  split(mask.id, is.id, is_not.id);
  const auto larger = made<lamina::variable<T, positive, D...>>(b);
  const auto smaller = made<lamina::variable<T, other, D...>>(b);
  split(x.id, larger.id, smaller.id);
  const auto y = made<lamina::variable<T, R, D...>>(b);
  b.add_operator(lamina::schema_of<lamina::merge_lod_tensor>(),
                 {mask.id, mask.id, layer::square(larger).id, layer::scale(smaller, 3).id}, {y.id},
                 level);
  b.open_domains.count -= 2;
  return y;
}

struct step_rows {};
struct ranked_rows {};

/// The steps of sequences and the sequences again, and what a step of a recurrence keeps of values
/// of its first step.
template <class T, class S, int... D, class R, int... E>
constexpr auto ranked_and_back(const lamina::variable<T, S, D...>& x,
                               const lamina::variable<T, R, E...>& first) {
  using step = lamina::at_step<S, step_rows>;
  using ranked = lamina::at_step<S, ranked_rows>;
  lamina::program_builder& b = *x.builder;
  block here{&b, b.current_block};
  const int parents = lamina::rows_of<typename S::parent>(b);
  b.open_domain(&lamina::domain_mark<step>, "step", parents, lamina::domain_kind::step, -1);
  b.open_domain(&lamina::domain_mark<ranked>, "ranked", parents, lamina::domain_kind::step, -1);
  const auto table = made<lamina::variable<integer, typename S::parent, 2>>(b);
  b.variables[table.id].stop_gradient = true;
  b.add_operator(lamina::schema_of<lamina::lod_rank_table>(), {x.id}, {table.id},
                 b.attribute_list(0));
  const auto steps = layer::create_array<lamina::variable<T, step, D...>>(here);
  b.add_operator(lamina::schema_of<lamina::lod_tensor_to_array>(), {x.id, table.id}, {steps.id});
  const auto again = made<lamina::variable<T, S, D...>>(b);
  b.add_operator(lamina::schema_of<lamina::array_to_lod_tensor>(), {steps.id, table.id},
                 {again.id});
  const auto ordered = made<lamina::variable<T, ranked, E...>>(b);
  b.add_operator(lamina::schema_of<lamina::reorder_lod_tensor_by_rank>(), {first.id, table.id},
                 {ordered.id});
  const auto second = layer::fill_constant<integer>(here, 1);
  const auto kept = made<lamina::variable<T, step, E...>>(b);
  b.add_operator(lamina::schema_of<lamina::shrink_rnn_memory>(), {ordered.id, second.id, table.id},
                 {kept.id});
  b.open_domains.count -= 2;
  return std::tuple{layer::sequence_pool(again), ordered, kept};
}

/// A constant, or, where x is large enough, x tripled.
template <class T, class R, int... D>
constexpr auto selected(const lamina::variable<T, R, D...>& x) {
  lamina::program_builder& b = *x.builder;
  block here{&b, b.current_block};
  const auto constant = layer::scale(x, 0);
  b.variables[constant.id].stop_gradient = true;
  const auto mask = layer::cast<std::int32_t>(
      layer::greater_than(layer::mean(x), layer::fill_constant<T>(here, -2)));
  const int sides[] = {constant.id, layer::scale(x, 3).id};
  const auto y = made<lamina::variable<T, R, D...>>(b);
  lamina::operator_desc op = b.begin(lamina::schema_of<lamina::select_input>());
  b.list(sides, 2);
  b.argument(mask.id);
  op.outputs = b.arguments.count;
  b.argument(y.id);
  op.end = b.arguments.count;
  b.operators.push(op);
  return y;
}

/// x and its square, one behind the other in a new dimension.
template <class T, class R, int... D>
constexpr auto stacked_array(const lamina::variable<T, R, D...>& x) {
  lamina::program_builder& b = *x.builder;
  block here{&b, b.current_block};
  const auto array = layer::array_write(x, layer::fill_constant<integer>(here, 0));
  layer::array_write(layer::square(x), layer::fill_constant<integer>(here, 1), array);
  const auto y = made<lamina::variable<T, R, 2, D...>>(b);
  b.add_operator(lamina::schema_of<lamina::tensor_array_to_tensor>(), {array.id}, {y.id},
                 b.attribute_list(1, true));
  return y;
}

void write_flow_cases(case_writer& to) {
  to.write("array_stack", []<class T>(block& main) {
    return squared(stacked_array(layer::data<"x", T, 3>(main)));
  });
  to.write("split_and_merge", []<class T>(block& main) {
    return squared(split_and_merged(layer::data<"x", T, 3>(main)));
  });
  to.write("rank_table", []<class T>(block& main) {
    auto x = layer::sequence<"x", T, 3>(main);
    return squared(ranked_and_back(x, layer::data<"first", T, 2>(main)));
  });
  to.write("select_input",
           []<class T>(block& main) { return squared(selected(layer::data<"x", T, 3>(main))); });
  // With nothing but operators of Fluid: it reads no step of its input.
  to.write("static_rnn_of_a_state",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 5, 3>(main);
             auto shift = layer::fc<4>(x);
             return layer::static_rnn(x, [&](auto& step) {
               auto h = step.template memory<T>(lamina::dims<4>, {.value = 0.5f});
               auto next = layer::sigmoid(layer::fc<4>(h) + shift);
               step.update(h, next);
               return next;
             });
           },
           {.gradients = false});
}

}  // namespace

void write_array_cases(case_writer& to) {
  to.write("assign_value",
           []<class T>(block& main) {
             return layer::elementwise_mul(layer::data<"x", T, 3>(main),
                                           layer::cast<T>(three_values(main)));
           },
           {.gradients = false});
  to.write("array_length", []<class T>(block& main) {
    auto x = layer::data<"x", T, 3>(main);
    auto first = layer::fill_constant<integer>(main, 0);
    auto second = layer::fill_constant<integer>(main, 1);
    auto array = layer::array_write(x, first);
    layer::array_write(layer::square(x), second, array);
    auto length = layer::cast<T>(layer::array_length(array));
    return squared(layer::array_read(array, first) * length + layer::array_read(array, second));
  });
  write_beam_cases(to);
  write_flow_cases(to);
}

}  // namespace interop
