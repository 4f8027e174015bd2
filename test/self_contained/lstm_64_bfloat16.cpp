// SPDX-License-Identifier: Apache-2.0
// The same LSTM of 64 with its weights as bfloat16: what that adds.
#include "lstm_64.hpp"

#include <lamina/model/bfloat16/static_bfloat16.hpp>

static lamina::static_evaluator<decltype(net), 1, lamina::storage::bfloat16> state;
static const float weights[decltype(state)::parameter_elements] = {};

int main(int count, char**) { return run(state, weights, count); }
