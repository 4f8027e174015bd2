// SPDX-License-Identifier: Apache-2.0
// Settings of a program of v2: arguments, then the environment, then defaults.
#include <cstdlib>

#include <catch2/catch.hpp>

#include <lamina/v2/init.hpp>

namespace paddle = lamina::v2;

namespace {

/// A variable of the environment, removed at the end of a test.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// init() with defaults, however a test ends.
struct defaults_again {
  ~defaults_again() {
    ::unsetenv("PADDLE_INIT_TRAINER_COUNT");
    ::unsetenv("PADDLE_INIT_USE_GPU");
    paddle::init();
  }
};

}  // namespace

TEST_CASE("init takes arguments first, then variables of the environment, then defaults") {
  const defaults_again at_the_end;
  paddle::init();
  CHECK(paddle::current().trainer_count == 1);
  CHECK(paddle::current().seed == 1);
  paddle::init({.use_gpu = false, .trainer_count = 3, .seed = 8});
  CHECK(paddle::current().trainer_count == 3);
  CHECK(paddle::current().seed == 8);
  const variable count("PADDLE_INIT_TRAINER_COUNT", "4"), gpu("PADDLE_INIT_USE_GPU", "False");
  paddle::init();
  CHECK(paddle::current().trainer_count == 4);
  CHECK(paddle::current().seed == 1);
  paddle::init({.trainer_count = 2});
  CHECK(paddle::current().trainer_count == 2);
  CHECK_FALSE(paddle::current().use_gpu);
  ::setenv("PADDLE_INIT_USE_GPU", "True", 1);
  paddle::init();
  CHECK(paddle::current().use_gpu);
  paddle::init({.use_gpu = false});
  CHECK_FALSE(paddle::current().use_gpu);
}

TEST_CASE("init refuses a wrong count and variables that are no numbers") {
  const defaults_again at_the_end;
  paddle::init({.trainer_count = 2});
  for (const int wrong : {0, -1, 257})
    CHECK_THROWS_WITH(
        paddle::init({.trainer_count = wrong}),
        "lamina: v2: init: expected a trainer_count of 1 to 256, found " + std::to_string(wrong));
  for (const char* wrong : {"", "two", "2x", " 2", "2.5"}) {
    const variable count("PADDLE_INIT_TRAINER_COUNT", wrong);
    CHECK_THROWS_WITH(
        paddle::init(),
        std::string("lamina: v2: init: expected a whole number in PADDLE_INIT_TRAINER_COUNT, "
                    "found '") +
            wrong + "'");
  }
  CHECK(paddle::current().trainer_count == 2);  // as before
}
