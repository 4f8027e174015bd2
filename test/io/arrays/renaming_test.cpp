// SPDX-License-Identifier: Apache-2.0
// Names of files as names of parameters.
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/io/arrays/renaming.hpp>

TEST_CASE("renaming: lists, maps, functions, one after the other") {
  const lamina::renaming none;
  CHECK(none("a.weight") == "a.weight");
  const lamina::renaming one{{"a", "b"}};
  CHECK(one("a") == "b");
  CHECK(one("aa") == "aa");
  const lamina::renaming two{{"a", "b"}, {"b", "a"}};  // a permutation: no name is renamed twice
  CHECK(two("a") == "b");
  CHECK(two("b") == "a");
  const std::map<std::string, std::string> all{{"x", "y"}};
  CHECK(lamina::renaming(all)("x") == "y");
  CHECK((one | two)("a") == "a");
  const lamina::renaming left_out = [](std::string_view) { return ""; };
  CHECK((left_out | lamina::rename_prefix("", "p."))("a").empty());
}

TEST_CASE("renaming: prefixes and suffixes at their ends only") {
  const lamina::renaming prefix = lamina::rename_prefix("model.", "m/");
  CHECK(prefix("model.a.model.b") == "m/a.model.b");
  CHECK(prefix("a.model.b") == "a.model.b");
  CHECK(prefix("mode") == "mode");
  const lamina::renaming suffix = lamina::rename_suffix(".weight", ".w_0");
  CHECK(suffix("a.weight.weight") == "a.weight.w_0");
  CHECK(suffix("a.weight_g") == "a.weight_g");
  CHECK(suffix("weight") == "weight");
  CHECK((lamina::rename_prefix("model.encoder.layers.", "encoder_") |
         lamina::rename_suffix(".self_attn.q_proj.weight", ".w_0"))(
            "model.encoder.layers.0.self_attn.q_proj.weight") == "encoder_0.w_0");
}

TEST_CASE("renaming: the names of PyTorch") {
  const lamina::renaming names = lamina::torch_names();
  CHECK(names("layer1.0.conv1.weight") == "layer1.0.conv1.w_0");
  CHECK(names("fc.bias") == "fc.b_0");
  CHECK(names("bn1.running_mean") == "bn1.w_1");
  CHECK(names("bn1.running_var") == "bn1.w_2");
  CHECK(names("bn1.num_batches_tracked").empty());
  CHECK(names("_orig_mod.module._orig_mod.fc.weight") == "fc.w_0");
  CHECK(names("my_module.fc.weight") == "my_module.fc.w_0");
  CHECK(names("embed.positions") == "embed.positions");
}
