// SPDX-License-Identifier: Apache-2.0
// An LSTM of 64 and nothing else: what an executable with a static evaluator needs.
#include "lstm_64.hpp"

#include <lamina/model/static_evaluator.hpp>

static lamina::static_evaluator<decltype(net)> state;
static const float weights[decltype(state)::parameter_elements] = {};

int main(int count, char**) { return run(state, weights, count); }
