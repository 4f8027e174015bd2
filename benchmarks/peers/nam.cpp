// SPDX-License-Identifier: Apache-2.0
// The rows A1n, A4 and A5 in NeuralAmpModelerCore, which reads the same files. NAME computes tanh
// as the standard library does; NAME_fast uses the library's approximation.
#include <filesystem>
#include <memory>
#include <string>

#include "../job.hpp"
#include "../signal.hpp"
#include <NAM/activations.h>
#include <NAM/get_dsp.h>

namespace {

workload::maker play(const char* file, bool fast) {
  return [=](const std::filesystem::path&, int) {
    using nam::activations::Activation;
    fast ? Activation::enable_fast_tanh() : Activation::disable_fast_tanh();
    nam::DspLoadOptions options;
    options.prewarm = false;
    std::shared_ptr<nam::DSP> net = nam::get_dsp(std::filesystem::path(NAM_MODELS) / file, options);
    net->SetPrewarmOnReset(false);
    net->Reset(48000, peer::block);
    return peer::job_of_signal([net](const float* x, float* y, int count) {
      // process() takes pointers to numbers that are not const, but only reads them.
      float* in = const_cast<float*>(x);
      net->process(&in, &y, count);
    });
  };
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument,
                         {{"A1n", play("lstm.nam", false)},
                          {"A1n_fast", play("lstm.nam", true)},
                          {"A4", play("wavenet_a1_standard.nam", false)},
                          {"A4_fast", play("wavenet_a1_standard.nam", true)},
                          {"A5", play("A2.nam", false)}});
}
