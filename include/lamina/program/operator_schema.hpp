// SPDX-License-Identifier: Apache-2.0
// lamina/program/operator_schema.hpp - the description of an operator type, with slots and
// attributes. Recorded operators refer to it.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/dtype.hpp>
#include <lamina/program/operator_facts.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Attribute types, numbered as Fluid's AttrType.
enum class attribute_type : std::uint8_t {
  integer = 0,
  real = 1,
  string = 2,
  integers = 3,
  reals = 4,
  strings = 5,
  boolean = 6,
  booleans = 7,
  block = 8,
  long_integer = 9,
  blocks = 10,
  long_integers = 11
};

/// A named slot for arguments of an operator.
struct slot_desc {
  const char* name;
  bool duplicable = false;    // the slot takes any number of variables
  bool dispensable = false;   // the slot may stay empty
  bool intermediate = false;  // an output for the gradient operator only
};

/// An attribute of an operator and its default.
struct attribute_desc {
  const char* name;
  attribute_type type;
  double number = 0;      // default of integer, real, boolean and long_integer
  const char* text = "";  // default of string
};

/// The value of an attribute: `number`, or, for a list or a string, the elements from `offset` to
/// `offset + count` in the program's pool of integers, reals or characters.
struct attribute_value {
  double number;
  int offset;
  int count;
};

/// The part of a training program that an operator belongs to: Fluid's op_role.
enum class op_role : std::int16_t {
  forward = 0,
  backward = 1,
  optimize = 2,
  learning_rate = 16,
  loss = 256,
  loss_gradient = 257,
  gradient_value = 4096  // recorded by layer::gradients. In files it is `backward`
};

/// How the plan treats an operator.
enum class operator_kind : std::uint8_t {
  pointwise,  // a function of the elements at one position: can be fused
  mul,        // a matrix product with a weight
  mul_grad,
  update,  // an optimizer's equation on one parameter: pointwise, in place
  source,  // an operator without a computation: data
  call     // calls its own kernel
};

struct program_builder;
struct operator_desc;

/// Records the gradient of gradient operator `op`. Returns false if `op` has no gradient.
using second_gradient_rule = bool (*)(program_builder& to, const operator_desc& op);

/// Computes `count` elements of output `output` of a pointwise operator into `out`. argument[i]
/// points to the elements of the i-th argument, `stride[i]` elements apart: first come the inputs
/// in slot order, then the attributes. A stride of 0 repeats one element.
template <class T>
using pointwise_function = void (*)(int output, std::int64_t count, const T* const* argument,
                                    const int* stride, T* out);

/// The static description of an operator type: Fluid's OpProto and the gradient rule.
struct operator_schema {
  const char* type;
  const slot_desc* inputs;
  int input_count;
  const slot_desc* outputs;
  int output_count;
  const attribute_desc* attributes;
  int attribute_count;
  operator_kind kind;
  bool has_side_effect;  // prune keeps it even if nothing reads its outputs
  bool knows_panels;     // whether its kernel supports weights in the engine's panel layout
  bool has_lists;        // whether any slot takes a list of variables
  int scalars;           // pointwise: how many leading attributes are passed to the function
  /// Bit i: the i-th input slot receives a gradient.
  std::uint32_t differentiable;
  /// Records the gradient operators of `op`; null for an operator without a gradient.
  void (*gradient)(program_builder& to, const operator_desc& op);
  /// The function of a pointwise operator or of an update, which the reference executor calls. It
  /// is null for other operators, for operators with a duplicable input, and for updates that read
  /// norms.
  pointwise_function<float> evaluate_float;
  pointwise_function<double> evaluate_double;
  /// A copy of the schema without the three functions above, for run-time tables. Otherwise the
  /// compiler would generate code for functions that only constant evaluation or the executor
  /// calls.
  const operator_schema* bare;
  operator_facts facts;
};

}}  // namespace lamina
