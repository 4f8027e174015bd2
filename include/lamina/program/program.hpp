// SPDX-License-Identifier: Apache-2.0
// lamina/program/program.hpp - records a program at compile time.
//
// The program is a static member of a template on the record function's type. The program's value
// is never a template argument, because every symbol would then contain the text of the whole
// program.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/program/block.hpp>
#include <lamina/program/distinct_names.hpp>
#include <lamina/program/program_desc.hpp>
#include <lamina/program/row_renaming.hpp>
#include <lamina/program/variable_scopes.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Whether a record function may return this type.
template <class R>
inline constexpr bool is_recorded = std::is_void_v<R> || is_variable<R>;
template <class... V>
inline constexpr bool is_recorded<std::tuple<V...>> = (is_variable<V> && ...);
template <class V, class W>
inline constexpr bool is_recorded<std::pair<V, W>> = is_variable<V>&& is_variable<W>;
template <class V, std::size_t N>
inline constexpr bool is_recorded<std::array<V, N>> = is_variable<V>;

/// The type that a record function returns; void if it cannot be called.
template <class F>
struct recorded {
  using type = void;
};
template <class F>
requires(std::is_invocable_v<F, block&>) struct recorded<F> {
  using type = std::invoke_result_t<F, block&>;
};

/// An argument that converts to any parameter type of a function.
struct any_argument {
  template <class T>
  constexpr operator T&() const;  // NOLINT: it converts
  template <class T>
  constexpr operator T&&() const;  // NOLINT: it converts
};
/// Whether a record function takes arguments other than one block. The value is false for a
/// function with a mistake in its body, which cannot be called with any arguments; the compiler has
/// already reported that mistake. A function that accepts a block is not tested with other
/// arguments, because if its parameter is `auto` the compiler would compile the body for a wrong
/// type.
template <class F>
inline constexpr bool accepts_others =
    std::is_invocable_v<F> || std::is_invocable_v<F, any_argument> ||
    std::is_invocable_v<F, any_argument, any_argument>;
template <class F>
requires(std::is_invocable_v<F, block&>) inline constexpr bool accepts_others<F> = false;

template <class T, class R, int... D>
constexpr void declare_output(program_builder& b, variable<T, R, D...> v) {
  b.outputs.push(v.id);
}

constexpr void record_nothing(program_builder& b) {
  b.blocks.push({-1, -1});
  b.report(fault_kind::unfinished, 0, {}, nullptr, 0, nullptr, 0);
}

/// A program that is recorded only to produce the compiler's messages.
struct loose_program {
  constexpr loose_program() { builder.blocks.push({-1, -1}); }
  program_desc made = empty_program;
  program_builder builder{made};
  block main{&builder, 0};
};
constexpr block& main_block(loose_program&& p) { return p.main; }

/// Returns the user's line that recorded a variable. Only parameters store their line, so this
/// function records the program again and traces the variable. The second block makes each copy of
/// a handle store its line.
template <class F>
constexpr int line_of(int variable) {
  loose_program again;
  again.builder.blocks.push({-1, -1});
  again.builder.traced = variable;
  static_cast<void>(F{}(again.main));
  return again.builder.traced_line;
}

template <class F>
constexpr void record(program_builder& b) {
  b.blocks.push({-1, -1});
  block main{&b, 0};
  using result = typename recorded<F>::type;
  if constexpr (!std::is_default_constructible_v<F> || !std::is_invocable_v<F, block&> ||
                !is_recorded<result>) {
    return;  // `program` reports the mistake
  } else if constexpr (std::is_void_v<result>) {
    F{}(main);
  } else if constexpr (is_variable<result>) {
    declare_output(b, F{}(main));
  } else {
    std::apply([&](auto... v) { (declare_output(b, v), ...); }, F{}(main));
  }
  if (b.outputs.count > 0) b.cost = b.outputs[0];
  if (b.is_full()) return;
  if (b.blocks.count > 1) require_scopes(b), require_minibatches(b);
  rename_rows(b);
  const int unplaced = distinct_names(b).require();
  // A function that cannot be called was reported above; without the condition the compiler would
  // report it here again.
  if constexpr (std::is_invocable_v<F, block&> && std::is_default_constructible_v<F>)
    if (unplaced >= 0) b.fault.line = line_of<F>(unplaced);
}

/// Whether a record function can be run in constant evaluation. For a function with a mistake,
/// clang often still deduces the result type, so that only a run of the function shows the mistake.
/// The test costs no second run: g++ caches the value of a call without arguments, and the program
/// is the result of the same call. The test is written with a number, because a bool_constant is
/// slower in clang.
template <class F>
#if defined(__CUDACC__) && !defined(__clang__)
inline constexpr bool runs = true;  // nvcc cannot run any function here
#else
inline constexpr bool runs = requires {
  typename expects<changed<empty_program, &record<F>>().count.blocks>;
};
#endif
template <class F>
constexpr program_desc recorded_desc() {
  if constexpr (std::is_invocable_v<F, block&> && runs<F>)
    return changed<empty_program, &record<F>>();
  else
    return changed<empty_program, &record_nothing>();
}

#if defined(__clang__) && __has_attribute(error)
/// The constructor of a program that is not constexpr calls this function if the compiler cannot
/// run the record function; the attribute makes the call an error with this message.
__attribute__((error(
    "lamina: program: the compiler runs the record function; make the program constexpr to see "
    "what it cannot run"))) void
record_function_is_run_by_the_compiler();
#endif

/// Returns a type that consists of the characters of the name in P's fault. Error messages show it.
template <const auto& P, int... Index>
auto letters(std::integer_sequence<int, Index...>) -> named<P.characters[P.fault.name + Index]...>;
template <const auto& P>
using faulty_name = decltype(letters<P>(std::make_integer_sequence<int, P.fault.name_length>{}));

template <const auto& P>
consteval bool accept() {
  constexpr fault_desc f = P.fault;
  if constexpr (f.kind == fault_kind::parameter_shape) {
    using line = at_line<f.line>;
    using expected = expects<f.expected[0], f.expected[1]>;
    using found = gets<f.found[0], f.found[1]>;
    static_assert(check<f.kind == fault_kind::none, line, faulty_name<P>, expected, found>,
                  "lamina: parameter: layers that share a parameter need one shape and type");
  } else if constexpr (f.kind == fault_kind::parameter_options) {
    using first_line = at_line<f.expected[0]>;
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>, first_line>,
                  "lamina: parameter: layers that share a parameter give it the same initializer, "
                  "learning rate, regularizer, clip and trainable, or all but the first only name "
                  "it");
  } else if constexpr (f.kind == fault_kind::name_used_twice) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>>,
                  "lamina: name: two variables of one program need two names");
  } else if constexpr (f.kind == fault_kind::foreign_variable) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: layer: all inputs come from one program");
  } else if constexpr (f.kind == fault_kind::embedding_range) {
    using line = at_line<f.line>;
    using expected = expects<f.expected[0]>;
    using found = gets<f.found[0]>;
    static_assert(check<f.kind == fault_kind::none, line, expected, found>,
                  "lamina: embedding: padding_idx lies inside the dictionary");
  } else if constexpr (f.kind == fault_kind::loop_condition) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: while_loop: the body writes the condition");
  } else if constexpr (f.kind == fault_kind::unstable_body) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: block: a body records the same each time that it is called");
  } else if constexpr (f.kind == fault_kind::branch_writes) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: if_else: a branch writes no variable of an outer block");
  } else if constexpr (f.kind == fault_kind::no_memory) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: rnn: each memory of a step is updated, and nothing else is");
  } else if constexpr (f.kind == fault_kind::first_memory) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: dynamic_rnn: a static input or first memory has one value for each "
                  "sequence, and is made outside of the step");
  } else if constexpr (f.kind == fault_kind::step_result) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: rnn: a step returns variables, one or a tuple of them");
  } else if constexpr (f.kind == fault_kind::memory_type) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: rnn: a memory is updated with a variable of its own type, rows and "
                  "dimensions");
  } else if constexpr (f.kind == fault_kind::memory_size) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: rnn: a memory begins with a variable, or has its size as a template "
                  "argument, step.memory(lamina::dims<64>); found a number");
  } else if constexpr (f.kind == fault_kind::branch_result) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: branch: a branch returns variables, one or a tuple of them");
  } else if constexpr (f.kind == fault_kind::step_input) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: dynamic_rnn: a step input has the sequences that the rnn walks over");
  } else if constexpr (f.kind == fault_kind::pooling_type) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: pool2d: a window of an image gives its average or its max");
  } else if constexpr (f.kind == fault_kind::changing_numbers) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: minimize: inside of a program an optimizer's own numbers are the same "
                  "in each step");
  } else if constexpr (f.kind == fault_kind::norm_limits) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: minimize: clip_by_global_norm has one limit for all parameters");
  } else if constexpr (f.kind == fault_kind::cost_block) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: minimize: the cost is a variable of the block that minimize is in");
  } else if constexpr (f.kind == fault_kind::gradient_block) {
    static_assert(check<f.kind == fault_kind::none, faulty_name<P>>,
                  "lamina: gradients: a gradient is taken in the block of its target, and depends "
                  "on the variable by operators of that block alone");
  } else if constexpr (f.kind == fault_kind::gradient_unreached) {
    static_assert(check<f.kind == fault_kind::none, faulty_name<P>>,
                  "lamina: gradients: the target depends on the variable");
  } else if constexpr (f.kind == fault_kind::gradient_of_rows) {
    static_assert(check<f.kind == fault_kind::none, faulty_name<P>>,
                  "lamina: gradients: the gradient of an embedding with is_sparse is no array");
  } else if constexpr (f.kind == fault_kind::second_gradient) {
    static_assert(check<f.kind == fault_kind::none, faulty_name<P>>,
                  "lamina: gradients: the gradient of this operator has itself no gradient");
  } else if constexpr (f.kind == fault_kind::rows_update) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>>,
                  "lamina: train: an embedding with is_sparse has gradients of rows, which sgd, "
                  "momentum, adagrad, adam, rmsprop and lamb take");
  } else if constexpr (f.kind == fault_kind::no_parameter) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>>,
                  "lamina: minimize: a name means parameters that the cost depends on");
  } else if constexpr (f.kind == fault_kind::stored_variable) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>>,
                  "lamina: store: only global variables and parameters keep a value");
  } else if constexpr (f.kind == fault_kind::stored_too_early) {
    static_assert(check<f.kind == fault_kind::none, faulty_name<P>>,
                  "lamina: store: a gradient needs the value from before the store; store after "
                  "minimize, or read a copy, layer::assign(x)");
  } else if constexpr (f.kind == fault_kind::out_of_block) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>>,
                  "lamina: block: a variable is used in its own block and those inside of it");
  } else if constexpr (f.kind == fault_kind::stale_rows) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>>,
                  "lamina: rows: a variable has the rows from before an operator changed them, "
                  "and is used with one of the new rows");
  } else if constexpr (f.kind == fault_kind::option_range) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>>,
                  "lamina: option: expected a value in the range that is named, found another");
  } else if constexpr (f.kind == fault_kind::minibatch_over) {
    static_assert(check<f.kind == fault_kind::none, at_line<f.line>, faulty_name<P>>,
                  "lamina: read_minibatch: a variable has the rows of a mini-batch, and is used "
                  "after another one was read");
  } else if constexpr (f.kind == fault_kind::program_size) {
    static_assert(check<f.kind == fault_kind::none, expects<program_limits.variables>>,
                  "lamina: program: more variables or operators than a program can hold");
  }
  // An assertion above has reported the mistake; `false` would cause a second error.
  return true;
}

template <class P>
constexpr long long count_scalars() {
  long long sum = 0;
  for (int i = 0; i < P::desc.count.parameters; ++i) {
    const variable_desc& v = P::desc.variables[P::desc.parameters[i].variable];
    long long size = 1;
    for (int d = 0; d < v.rank; ++d) size *= P::desc.dims[v.dims + d];
    sum += size;
  }
  return sum;
}

}  // namespace detail

/// Whether P is a program, either recorded or made by a transform.
template <class P>
concept program_type = requires {
  P::desc.cost;
  P::desc.count.variables;
};

/// The numbers of variables, operators and so on of a program. Run-time code must read them here
/// and not from `P::desc`: without optimisation, clang would write all 8 MB of P::desc to the
/// object file.
template <class P>
inline constexpr program_counts counts_of = P::desc.count;

/// Whether a mistake in a program was found and reported. Code that uses such a program reports no
/// further errors.
template <class P>
inline constexpr bool is_faulty = P::desc.fault.kind != fault_kind::none;

/// The members that recorded and transformed programs have in common.
template <class Derived>
struct program_base {
  /// Returns the number of scalars in all parameters.
  static constexpr long long parameter_count() {
    constexpr long long count = detail::count_scalars<Derived>();
    return count;
  }
  /// Returns the program as pointers and counts, for run-time code.
  static constexpr program_view view() { return view_of(frozen<>); }

 private:
  template <class D = Derived>
  static constexpr auto frozen = freeze<D::desc.count>(D::desc);
};

/// A program: `constexpr auto net = lamina::program([](lamina::block& main) { ... return cost; });`
/// The compiler runs the function, which may call functions and contain loops and branches. The
/// first variable that the function returns is the cost that training minimises; a run computes all
/// returned variables. Layers on which nothing depends are kept. Fluid: Program (main and startup
/// together).
template <class F>
struct program : program_base<program<F>> {
  static_assert(std::is_default_constructible_v<F>,
                "lamina: program: the record function captures nothing; what it needs are "
                "constants and template arguments");
  static_assert(!detail::accepts_others<F>,
                "lamina: program: the record function takes a block, [](lamina::block& main) { ... "
                "}");
  /// The type of handle, or tuple of handles, that the record function returns.
  using result = typename detail::recorded<F>::type;
  static_assert(check<detail::is_recorded<result>, gets_type<result>>,
                "lamina: program: the record function returns variables, a tuple of variables or "
                "nothing");

  /// The recorded ProgramDesc.
  static constexpr program_desc desc = detail::recorded_desc<F>();

  /// Records all layers of this program into the block of another one, and returns what its record
  /// function returns: `auto scores = net(main);`. An imported program, for example, gets a label
  /// and a cost in this way, and its text stays as it is. Names of layers and of parameters are
  /// those of this program, so the other program can call it once.
  constexpr result operator()(block& main) const { return F{}(main); }

  constexpr program(F) {  // NOLINT: the record function converts
    if constexpr (std::is_invocable_v<F, block&>) {
      // Causes an error with notes that say what the compiler cannot run. The function is called
      // directly here, because each nested call adds a note. g++ prints fewer notes for a constant,
      // clang for an assertion.
      if constexpr (!detail::runs<F>) {
#if defined(__clang__) && __clang_major__ < 16 && __has_attribute(error)
        // Before clang 16, an assertion here would report a mistake in the body a second time.
        // Without the assertion, the program itself is not a constant, and the error has three
        // lines instead of eight.
        static_cast<void>(F{}(detail::main_block(detail::loose_program())));
        detail::record_function_is_run_by_the_compiler();
#elif defined(__clang__)
        static_assert((static_cast<void>(F{}(detail::main_block(detail::loose_program()))), true));
#else
        [[maybe_unused]] constexpr bool record_function_is_run_by_the_compiler =
            (static_cast<void>(F{}(detail::main_block(detail::loose_program()))), true);
#endif
      }
    } else if constexpr (!detail::accepts_others<F>) {
      // The compiler has already reported a mistake in the function's body.
      using told [[maybe_unused]] = decltype(std::declval<F>()(std::declval<block&>()));
    }
    static_assert(detail::accept<desc>());
  }
};

}}  // namespace lamina
