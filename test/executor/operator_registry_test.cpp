// SPDX-License-Identifier: Apache-2.0
// The registry knows every operator that the library defines, and a user's own.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <catch2/catch.hpp>

#include <lamina/executor/operator_registry.hpp>

namespace {

struct cube : lamina::pointwise {
  static constexpr const char* type = "cube";
  template <class T>
  LAMINA_FN static T f(T x) {
    return x * x * x;
  }
  template <class T>
  LAMINA_FN static T df(T x, T dy) {
    return T(3) * x * x * dy;
  }
};

}  // namespace

TEST_CASE("registry: every operator that a header defines is known by its type") {
  const std::regex type("\n  static constexpr const char\\* type = \"(\\w+)\"");
  std::size_t found = 0;
  for (const char* folder : {"operators", "optimizer"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(LAMINA_TEST_DIR) / "../include/lamina" / folder)) {
      if (!file.is_regular_file()) continue;
      std::ostringstream text;
      text << std::ifstream(file.path()).rdbuf();
      const std::string source = text.str();
      for (std::sregex_iterator at(source.begin(), source.end(), type), end; at != end; ++at) {
        const std::string name = (*at)[1];
        if (name == "custom") continue;  // an optimizer that says nothing else
        INFO(file.path() << " defines " << name);
        CHECK(!lamina::known_operators().forms(name).empty());
        ++found;
      }
    }
  CHECK(found > 170);
}

TEST_CASE("registry: gradients, forms of updates, an operator of one's own") {
  const lamina::operator_registry& known = lamina::known_operators();
  CHECK(known.forms("relu_grad").size() == 1);
  CHECK(known.forms("sgd").size() == 3);
  CHECK(known.forms("cube").empty());
  lamina::operator_registry own;
  own.add<cube>();
  REQUIRE(own.forms("cube").size() == 1);
  CHECK(own.forms("cube_grad").size() == 1);
  CHECK(own.types().size() == known.types().size() + 2);
}
