// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/row_loop_runner.hpp - runs the row loops of a program at a place: lists what
// the host comes across on its way along a loop, launches all of it as one kernel, and adds up what
// is left to be added.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include <lamina/engine/cuda/chain_room.hpp>
#include <lamina/engine/cuda/machine_memory.hpp>
#include <lamina/engine/cuda/row_loop.hpp>
#include <lamina/engine/cuda/row_loop_body.hpp>

namespace lamina::engine::cuda {

/// The row loops of a program as a constexpr table: by block how its kernel is launched, by group
/// how a call is listed that moves rows.
template <class P, class Backend>
struct row_loop_table {
  using schedule = schedule_table<P, Backend>;
  using plan_type = typename schedule::plan_type;
  static constexpr const auto& loops = row_loops_of<P>;
  static constexpr int blocks = P::desc.count.blocks, groups = schedule::groups;
  using launch_function = void (*)(Backend&, row_loop_arguments&);
  using list_function = void (*)(step_list<Backend>&, const call_site&);
  using cell_function_call = cell_call (*)(const call_site&);

  template <int Block, int Kind>
  static consteval auto make_step() {
    constexpr int g = loops.group_of(Block, Kind, plan_type::grouped);
    if constexpr (loops.step[g] == row_step::cells) {
      return type_tag<
          cell_step<typename detail::called_by<expression::group_of<plan_type, g>>::type>>{};
    } else {
      using statements = typename detail::statements_of<expression::group_of<plan_type, g>>::type;
      if constexpr (loops.step[g] == row_step::product)
        return type_tag<product_step<statements>>{};
      else
        return type_tag<pointwise_step<statements>>{};
    }
  }
  template <int Block, class Kinds>
  struct body;
  template <int Block, int... K>
  struct body<Block, std::integer_sequence<int, K...>> {
    using type = row_loop_body<Backend::row_threads, std::max(2, loops.arguments[Block]),
                               typename decltype(make_step<Block, K>())::type...>;
  };
  template <int Block>
  static void launch(Backend& b, row_loop_arguments& g) {
    using kernel = typename body<Block, std::make_integer_sequence<int, loops.kinds[Block]>>::type;
    kernel::plan_room(g, loops.deepest[Block], loops.widest[Block]);
    // Weights find room in the order of the products.
    for (int w = 0; w < g.weight_count; ++w) {
      const int words = g.weights[w].depth * padded(g.weights[w].columns);
      g.weights[w].at = g.all_words + words <= chain_limits::words ? g.all_words : -1;
      if (g.weights[w].at >= 0) g.all_words += words;
    }
    b.template teams<kernel>(g);
  }

  struct table_type {
    launch_function launch[at_least_one(blocks)];
    list_function list[at_least_one(plan_type::kernels)];        // by kernel
    cell_function_call cells[at_least_one(plan_type::kernels)];  // by kernel
  };
  template <int Block>
  static constexpr launch_function launch_of() {
    if constexpr (loops.of[Block])
      return &launch<Block>;
    else
      return nullptr;
  }
  static constexpr bool is_step(int kernel, row_step step) {
    for (int g = 0; g < groups; ++g)
      if (plan_type::distinct.kernel[g] == kernel && loops.step[g] == step) return true;
    return false;
  }
  template <int Kernel>
  static constexpr list_function list_of() {
    if constexpr (is_step(Kernel, row_step::call))
      return &group_launch<typename schedule::template distinct_group<Kernel>>::template run<
          step_list<Backend>>;
    else
      return nullptr;
  }
  template <int Kernel>
  static constexpr cell_function_call cells_of() {
    if constexpr (is_step(Kernel, row_step::cells))
      return &cell_function<typename detail::called_by<
          typename schedule::template distinct_group<Kernel>>::type>::call;
    else
      return nullptr;
  }
  template <int... B, int... K>
  static constexpr table_type make(std::integer_sequence<int, B...>,
                                   std::integer_sequence<int, K...>) {
    return {{launch_of<B>()...}, {list_of<K>()...}, {cells_of<K>()...}};
  }
  static constexpr table_type table = make(std::make_integer_sequence<int, blocks>{},
                                           std::make_integer_sequence<int, plan_type::kernels>{});

  /// What the host needs to know of a group.
  struct group_facts {
    row_step step;
    std::int8_t kind, product, left, right;
    bool puts_left, puts_right;
    std::uint8_t arguments;
    unsigned stores;  // a bit for each argument that is written
    list_function list;
    cell_function_call cells;
  };
  struct block_facts {
    bool is_row_loop;
    int first, count;  // of its groups
    int arguments, aside;
    launch_function launch;
  };
  struct facts_type {
    group_facts groups[at_least_one(schedule::groups)];
    block_facts blocks[at_least_one(P::desc.count.blocks)];
  };
  static constexpr unsigned stored_by(int g) {
    const group_code c = plan_type::code.groups[g];
    unsigned r = 0;
    if (loops.step[g] == row_step::cells) {
      const instruction& i =
          plan_type::lowered
              .instructions[plan_type::grouped.order[plan_type::grouped.groups[g].first]];
      for (int o = 0; o < i.output_count; ++o) r |= 1u << (i.input_count + o);
      return r;
    }
    for (int s = c.statements; s < c.statements + c.statement_count; ++s)
      if (const int to = plan_type::code.statements[s].store; to >= 0 && to < 32) r |= 1u << to;
    return r;
  }
  static constexpr facts_type make_facts() {
    facts_type t{};
    for (int g = 0; g < groups; ++g) {
      t.groups[g] = {loops.step[g],
                     static_cast<std::int8_t>(loops.kind[g]),
                     static_cast<std::int8_t>(loops.product[g]),
                     static_cast<std::int8_t>(loops.left[g]),
                     static_cast<std::int8_t>(loops.right[g]),
                     loops.puts_left[g],
                     loops.puts_right[g],
                     0,
                     stored_by(g),
                     table.list[plan_type::distinct.kernel[g]],
                     table.cells[plan_type::distinct.kernel[g]]};
      if (loops.step[g] != row_step::none)
        t.groups[g].arguments =
            static_cast<std::uint8_t>(std::min(255, plan_type::code.groups[g].argument_count));
      block_facts& b = t.blocks[plan_type::grouped.groups[g].block];
      if (b.count++ == 0) b.first = g;
    }
    for (int b = 0; b < blocks; ++b) {
      t.blocks[b].is_row_loop = loops.of[b];
      t.blocks[b].arguments = std::max(2, loops.arguments[b]);
      t.blocks[b].aside = loops.aside[b];
      t.blocks[b].launch = table.launch[b];
    }
    return t;
  }
  static constexpr facts_type facts = make_facts();
};

/// Lists and launches.
template <class P, class Backend>
class row_loop_runner {
  using memory_type = machine_memory<P, Backend>;
  using schedule = schedule_table<P, Backend>;
  using known = row_loop_table<P, Backend>;

 public:
  /// Whether the block that group `g` runs is a row loop: from now on its groups are listed.
  static bool begin(memory_type& m, int g, int block) {
    const auto& b = known::facts.blocks[block];
    if (!b.is_row_loop || !m.backend().joins_steps()) return false;
    m.steps().open(g, block, b.arguments, b.aside, &m,
                   [](void* memory) { launch(*static_cast<memory_type*>(memory)); });
    return true;
  }
  static void end(memory_type& m) {
    m.steps().flush();
    m.steps().close();
  }

  /// Lists group g.
  static void add(memory_type& m, int g, const run_state& state) {
    const auto& f = known::facts.groups[g];
    const call_site c = m.site(g, state);
    step_list<Backend>& list = m.steps();
    switch (f.step) {
      case row_step::product:
      case row_step::pointwise: {
        const bool multiplies = f.step == row_step::product;
        list.add_group({f.kind, 0, 0, state.rows_of(c.group.rows), c.group.columns,
                        multiplies ? static_cast<int>(c.info(0).stride) : 0,
                        padded(c.group.columns), multiplies ? c.group.depth : 0, f.product},
                       c.arguments, f.arguments, f.stores);
        break;
      }
      case row_step::cells: {
        const cell_call call = f.cells(c);
        list.add_group({f.kind, 0, 0, call.rows, call.cells, static_cast<int>(call.broad_stride),
                        static_cast<int>(call.stride), 0, std::bit_cast<std::int32_t>(call.number)},
                       c.arguments, f.arguments, f.stores, &call);
        break;
      }
      case row_step::call:
        f.list(list, c);
        break;
      case row_step::row_sum:
      case row_step::product_sum:
        if (f.puts_left) list.put_aside(f.left, c.at_position(0));
        if (f.puts_right) list.put_aside(f.right, c.at_position(1));
        break;
      case row_step::none:
        break;
    }
  }

 private:
  /// What is listed becomes one launch, and each of its sums one or two.
  static void launch(memory_type& m) {
    step_list<Backend>& list = m.steps();
    const auto& b = known::facts.blocks[list.block()];
    const run_state state = m.state();
    row_loop_arguments g{};
    std::ptrdiff_t scratch = 0;
    for (int at = b.first; at < b.first + b.count; ++at) {
      const auto& f = known::facts.groups[at];
      const auto& e = schedule::table.entries[at];
      if (f.step == row_step::product)
        g.weights[g.weight_count++] = {m.arguments()[e.first_argument + 1],
                                       schedule::table.info[e.first_argument + 1].stride,
                                       e.group.depth, e.group.columns, -1};
      if (f.left >= 0 && e.scratch != nullptr) {
        const sum_site sum(m, at, state);
        scratch = std::max(scratch, e.scratch(sum.site));
      }
    }
    float* const left_over = list.place_aside(scratch);
    const call_site loop = m.site(list.group(), state);
    m.backend().begin_group(loop);
    g.steps = list.send(
        [&m](void* to, const void* from, std::size_t bytes) { m.blocks().send(to, from, bytes); });
    g.count = list.count();
    g.rows = list.rows();
    // The fewer rows a team has, the sooner it is through; with all of a device at work, more rows
    // share what is read of weights.
    constexpr int processors = 128;
    g.rows_each =
        std::clamp((g.rows + processors - 1) / processors, 1, row_loop_arguments::most_rows);
    b.launch(m.backend(), g);
    m.backend().end_group();
    for (int at = b.first; at < b.first + b.count; ++at)
      if (known::facts.groups[at].left >= 0) {
        sum_site sum(m, at, state);
        sum.state.scratch = left_over;
        if (sum.rows[sum.domain] == 0) continue;
        m.backend().begin_group(sum.site);
        schedule::table.entries[at].run(m.backend(), sum.site);
        m.backend().end_group();
      }
    list.clear();
  }

  /// A group that adds up rows, with those that were put aside.
  struct sum_site {
    static constexpr int most_arguments = 6;
    int rows[P::desc.count.domains];
    float* arguments[most_arguments];
    int domain;
    run_state state;
    call_site site;

    sum_site(memory_type& m, int g, const run_state& now)
        : domain(
              domain_of_rows(schedule::table.info[schedule::table.entries[g].first_argument].rows)),
          state(with_rows(m.steps(), g, now)),
          site(schedule::program, arguments,
               schedule::table.info + schedule::table.entries[g].first_argument,
               schedule::table.entries[g].group, state, g) {
      const auto& f = known::facts.groups[g];
      std::copy_n(m.arguments() + schedule::table.entries[g].first_argument,
                  std::min(most_arguments, int{f.arguments}), arguments);
      arguments[0] = m.steps().aside(f.left);
      if (f.right >= 0) arguments[1] = m.steps().aside(f.right);
    }
    sum_site(const sum_site&) = delete;

   private:
    run_state with_rows(const step_list<Backend>& list, int g, run_state now) {
      std::copy_n(now.rows, P::desc.count.domains, rows);
      rows[domain] = list.aside_count(known::facts.groups[g].left);
      now.rows = rows;
      return now;
    }
  };
};

}  // namespace lamina::engine::cuda
