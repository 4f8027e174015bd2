// SPDX-License-Identifier: Apache-2.0
// The executor that computes the constants of ONNX files. Its kernels are compiled with the address
// sanitizer only: libFuzzer's counters and the checks of undefined behaviour in all of them would
// make this program several times as slow to compile, and guide the fuzzer away from the reader.
#include "executor/shared_executor.hpp"

template class lamina::basic_executor<double>;
