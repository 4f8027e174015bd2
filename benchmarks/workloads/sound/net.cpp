// SPDX-License-Identifier: Apache-2.0
// A row A1 to A5: 64 samples of a signal through a net for sound. lamina_import makes net.hpp of
// the file of another library.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <vector>

#include "../../job.hpp"
#include "../../signal.hpp"
#include <net.hpp>

#include <lamina/io/safetensors.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace {

workload::job play(const std::filesystem::path&, int) {
  using program = std::remove_const_t<decltype(net)>;
  auto e = std::make_shared<lamina::static_evaluator<program>>();
  {
    lamina::model<program> model{net};
    lamina::load_safetensors(LAMINA_IMPORTED_NET, model);
    e->load(model);
  }
  return peer::job_of_signal([e](const float* x, float* y, int count) {
    const auto in = e->template input<"x">();
    const auto out = e->template activation<"y">();
    for (int t = 0; t < count; t += static_cast<int>(in.size())) {
      std::copy_n(x + t, in.size(), in.begin());
      e->forward();
      e->feed_back();
      std::copy_n(out.begin(), out.size(), y + t);
    }
  });
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument, {{WORKLOAD_NAME, play}});
}
