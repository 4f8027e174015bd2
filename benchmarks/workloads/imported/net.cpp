// SPDX-License-Identifier: Apache-2.0
// A row I1 to I10: the inference, at batch 1, of a model that peers/export_models.py exported from
// PyTorch. lamina_import makes net.hpp of the file.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <vector>

#include "../../job.hpp"
#include "../../npy.hpp"
#include <net.hpp>

#include <lamina/io/safetensors.hpp>
#include <lamina/model/evaluator.hpp>

namespace {

workload::job infer(const std::filesystem::path& folder, int) {
  constexpr const lamina::program_desc& p = std::remove_const_t<decltype(net)>::desc;
  static constexpr bool is_text = p.variables[p.data[0]].type == lamina::dtype::int64;
  struct state {
    lamina::model<std::remove_const_t<decltype(net)>> model{net};
    lamina::evaluator<std::remove_const_t<decltype(net)>> evaluator{model};
    peer::array x;
  };
  auto s = std::make_shared<state>();
  s->x = peer::read_npy(folder / "x.npy");
  lamina::load_safetensors(LAMINA_IMPORTED_NET, s->model);
  const auto run = [s](int n) {
    for (int i = 0; i < n; ++i) {
      if constexpr (is_text)
        s->evaluator.forward(lamina::feed<"x">(s->x.integers));
      else
        s->evaluator.forward(lamina::feed<"x">(s->x.floats));
    }
  };
  return {[run, s] {
            run(1);
            const auto y = s->evaluator.template activation<"result">();
            std::vector<float> all(y.begin(), y.end());
            all.resize(std::min<std::size_t>(all.size(), 4096));
            return all;
          },
          run};
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument, {{WORKLOAD_NAME, infer}});
}
