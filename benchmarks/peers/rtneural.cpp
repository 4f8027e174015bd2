// SPDX-License-Identifier: Apache-2.0
// The rows A1 to A3 in RTNeural, which reads the same files. NAME is its model whose layers are
// known at run time; NAME_compiled is the model whose layers are template arguments.
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "../job.hpp"
#include "../signal.hpp"
#include <RTNeural/RTNeural.h>

namespace {

using namespace RTNeural;

std::ifstream open(const std::string& name) {
  std::ifstream file(std::string(RTNEURAL_MODELS) + name);
  if (!file) throw std::runtime_error("there is no file " + name);
  return file;
}

template <class Model>
workload::job play(std::shared_ptr<Model> model) {
  model->reset();
  return peer::job_of_signal([model](const float* x, float* y, int count) {
    for (int t = 0; t < count; ++t) {
      alignas(64) const float now[16] = {x[t]};
      y[t] = model->forward(now);
    }
  });
}

workload::maker dynamic(const char* file) {
  return [file](const std::filesystem::path&, int) {
    std::ifstream from = open(file);
    return play<Model<float>>(json_parser::parseJson<float>(from));
  };
}

template <class Model>
workload::maker compiled(const char* file) {
  return [file](const std::filesystem::path&, int) {
    auto model = std::make_shared<Model>();
    std::ifstream from = open(file);
    model->parseJson(from);
    return play(model);
  };
}

template <int... Size>
using dense = DenseT<float, Size...>;
template <int Size>
using tanh_of = TanhActivationT<float, Size>;

using lstm = ModelT<float, 1, 1, dense<1, 8>, tanh_of<8>, LSTMLayerT<float, 8, 8>, dense<8, 1>>;
using gru = ModelT<float, 1, 1, dense<1, 8>, tanh_of<8>, GRULayerT<float, 8, 8>, dense<8, 8>,
                   SigmoidActivationT<float, 8>, dense<8, 1>>;
using conv =
    ModelT<float, 1, 1, dense<1, 8>, tanh_of<8>, Conv1DT<float, 8, 4, 3, 1>, tanh_of<4>,
           BatchNorm1DT<float, 4>, PReLUActivationT<float, 4>, Conv1DT<float, 4, 4, 1, 1>,
           tanh_of<4>, Conv1DT<float, 4, 6, 3, 2, 2>, tanh_of<6>, BatchNorm1DT<float, 6, false>,
           PReLUActivationT<float, 6>, dense<6, 1>, SigmoidActivationT<float, 1>>;

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument,
                         {{"A1", dynamic("lstm.json")},
                          {"A1_compiled", compiled<lstm>("lstm.json")},
                          {"A2", dynamic("gru.json")},
                          {"A2_compiled", compiled<gru>("gru.json")},
                          {"A3", dynamic("conv.json")},
                          {"A3_compiled", compiled<conv>("conv.json")},
                          {"A3s", dynamic("conv.json")},
                          {"A3s_compiled", compiled<conv>("conv.json")}});
}
