// SPDX-License-Identifier: Apache-2.0
// Asks the example serve_http many requests, malformed ones among them, and compares each answer.
//
// usage: http_load PORT REQUESTS CONNECTIONS MODEL [OTHER_MODEL]
//
// MODEL and OTHER_MODEL are the files that the server loads in turn: its versions 1, 3, ... are of
// MODEL, 2, 4, ... of OTHER_MODEL. Each answer must be of one of them as a whole. With OTHER_MODEL
// the server may end meanwhile: what is asked then is not counted, but whatever the server began to
// answer must be whole.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve_http/digits_net.hpp"
#include <httplib.h>
#include <nlohmann/json.hpp>

namespace {

using json = nlohmann::json;
constexpr const char* infer = "/v2/models/digits/infer";

/// Probabilities of all digits by both models.
struct expectation {
  std::vector<std::array<float, 64>> images;
  std::vector<std::array<float, 10>> of[2];
  std::vector<std::string> data;  // as JSON

  expectation(const char* model, const char* other) {
    for (const auto& digit : lamina::dataset::digits::test()) {
      auto& image = images.emplace_back();
      std::string text;
      for (std::size_t i = 0; i < 64; ++i) {
        image[i] = digit.image[i];
        char number[32];
        std::snprintf(number, sizeof number, "%s%.9g", i > 0 ? "," : "",
                      static_cast<double>(image[i]));
        text += number;
      }
      data.push_back(text);
    }
    for (int k = 0; k < 2; ++k) {
      lamina::model m{serve_http::served_net};
      m.load(k == 0 ? model : other);
      lamina::evaluator e{m};
      for (const auto& image : images) {
        e.forward(lamina::feed<"image">(image));
        const auto found = e.activation<"probabilities">();
        auto& row = of[k].emplace_back();
        for (std::size_t i = 0; i < 10; ++i) row[i] = found(0, i);
      }
    }
  }
  bool is(std::uint64_t version, std::size_t digit, const std::vector<float>& found) const {
    const auto& expected = of[(version + 1) % 2][digit];
    bool all = found.size() == 10;
    for (std::size_t i = 0; all && i < 10; ++i) all = std::abs(found[i] - expected[i]) < 1e-5f;
    return all;
  }
};

struct malformed {
  int code;
  std::string body, type;
};

/// What goes wrong in many ways, and the code that answers it.
std::vector<malformed> malformed_bodies(const std::string& data) {
  const auto input = [](const std::string& name, const std::string& type, const std::string& shape,
                        const std::string& values) {
    return "{\"inputs\":[{\"name\":\"" + name + "\",\"datatype\":\"" + type +
           "\",\"shape\":" + shape + ",\"data\":" + values + "}]}";
  };
  const std::string js = "application/json", right = "[" + data + "]";
  const std::string octets = "application/octet-stream";
  std::string nan(256, '\0');
  const float value = NAN;
  std::memcpy(nan.data() + 32, &value, sizeof value);
  return {{400, "", js},
          {400, "{", js},
          {400, "[]", js},
          {400, std::string(100000, '['), js},
          {400, "\xff\xfe", js},
          {400, "{\"inputs\":[]}", js},
          {400, "{\"inputs\":{\"name\":\"image\"}}", js},
          {400, input("picture", "FP32", "[1,64]", right), js},
          {400, input("image", "FP64", "[1,64]", right), js},
          {400, input("image", "FP32", "[64]", right), js},
          {400, input("image", "FP32", "[2,64]", right), js},
          {400, input("image", "FP32", "[-1,64]", right), js},
          {400, input("image", "FP32", "[1,64]", "[1]"), js},
          {400, input("image", "FP32", "[1,64]", "[NaN]"), js},
          {400, input("image", "FP32", "[1,64]", "[\"NaN\"]"), js},
          {400, input("image", "FP32", "[1,64]", "[1e999]"), js},
          {400, input("image", "FP32", "[1,64]", "[1e39]"), js},
          {400, input("image", "FP32", "[1,64]", "[[[" + data + "]]]"), js},
          {400, nan, octets},
          {400, std::string(255, '\0'), octets},
          {400, std::string(256 * 65, '\0'), octets},
          {413, std::string((1 << 20) + 1, ' '), js}};
}

struct outcome {
  std::map<int, int> codes;
  int wrong = 0, lost = 0, refused = 0;
  std::size_t right = 0, rows = 0;
};

class caller {
 public:
  caller(int port, const expectation& e, const std::vector<malformed>& bad, bool may_end)
      : client_("127.0.0.1", port), e_(e), bad_(bad), may_end_(may_end) {
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
    client_.set_read_timeout(30);
  }

  void ask(std::uint64_t number) {
    if (number % 20 == 7) return ask_malformed(bad_[number / 20 % bad_.size()]);
    if (number % 10 == 3) return ask_raw(number);
    if (number % 10 == 5) return ask_binary(number);
    ask_json(number);
  }
  const outcome& found() const { return found_; }
  bool ended() const { return found_.refused > 0; }

 private:
  std::size_t digit(std::uint64_t number) const {
    return static_cast<std::size_t>(number % e_.images.size());
  }
  /// Whether an answer came, which it counts.
  bool came(const httplib::Result& r) {
    if (r) {
      ++found_.codes[r->status];
      return true;
    }
    // A connection that the server did not accept has asked nothing.
    if (may_end_ && r.error() == httplib::Error::Connection)
      ++found_.refused;
    else {
      ++found_.lost;
      std::fprintf(stderr, "lost: %s\n", httplib::to_string(r.error()).c_str());
    }
    return false;
  }
  void count(bool right, const httplib::Result& r, std::size_t rows = 1) {
    if (right)
      ++found_.right, found_.rows += rows;
    else if (++found_.wrong < 5)
      std::fprintf(stderr, "wrong answer %d: %.300s\n", r->status, r->body.c_str());
  }
  void ask_malformed(const malformed& m) {
    const auto r = client_.Post(infer, m.body, m.type.c_str());
    if (!came(r)) return;
    const json body = json::parse(r->body, nullptr, false);
    if (r->status != m.code || !body.is_object() || !body["error"].is_string()) {
      ++found_.wrong;
      std::fprintf(stderr, "expected %d, found %d: %.300s\n", m.code, r->status, r->body.c_str());
    }
  }
  void ask_json(std::uint64_t number) {
    const std::string id = std::to_string(number);
    // Two rows from time to time.
    const std::size_t first = digit(number), second = digit(number + 1);
    const bool two = number % 7 == 0;
    const auto r = client_.Post(
        infer,
        "{\"id\":\"" + id + "\",\"inputs\":[{\"name\":\"image\",\"datatype\":\"FP32\",\"shape\":[" +
            (two ? "2" : "1") + ",64],\"data\":[" + e_.data[first] +
            (two ? "," + e_.data[second] : "") + "]}],\"outputs\":[{\"name\":\"probabilities\"}]}",
        "application/json");
    if (!came(r)) return;
    const json body = json::parse(r->body, nullptr, false);
    bool right = r->status == 200 && body.is_object() && body.value("id", "") == id;
    if (right) {
      const auto version = std::stoull(body["model_version"].get<std::string>());
      const auto all = body["outputs"][0]["data"].get<std::vector<float>>();
      right = all.size() == (two ? 20 : 10) &&
              e_.is(version, first, {all.begin(), all.begin() + 10}) &&
              (!two || e_.is(version, second, {all.begin() + 10, all.end()}));
    }
    count(right, r, two ? 2 : 1);
  }
  void ask_raw(std::uint64_t number) {
    const auto& image = e_.images[digit(number)];
    const auto r = client_.Post(
        "/v2/models/digits/infer?output=probabilities", {{"Accept", "application/octet-stream"}},
        reinterpret_cast<const char*>(image.data()), sizeof image, "application/octet-stream");
    if (!came(r)) return;
    std::vector<float> row(r->body.size() / sizeof(float));
    std::memcpy(row.data(), r->body.data(), row.size() * sizeof(float));
    count(r->status == 200 &&
              e_.is(std::strtoull(r->get_header_value("Model-Version").c_str(), nullptr, 10),
                    digit(number), row),
          r);
  }
  void ask_binary(std::uint64_t number) {
    const auto& image = e_.images[digit(number)];
    const std::string id = std::to_string(number);
    const std::string head =
        "{\"id\":\"" + id +
        "\",\"parameters\":{\"binary_data_output\":true},\"inputs\":[{\"name\":\"image\","
        "\"datatype\":\"FP32\",\"shape\":[1,64],\"parameters\":{\"binary_data_size\":256}}]}";
    const auto r =
        client_.Post(infer, {{"Inference-Header-Content-Length", std::to_string(head.size())}},
                     head + std::string(reinterpret_cast<const char*>(image.data()), sizeof image),
                     "application/octet-stream");
    if (!came(r)) return;
    const auto size =
        std::strtoull(r->get_header_value("Inference-Header-Content-Length").c_str(), nullptr, 10);
    const json body = json::parse(r->body.substr(0, size), nullptr, false);
    bool right = r->status == 200 && body.is_object() && body.value("id", "") == id &&
                 r->body.size() == size + 40 + 40 + 8;  // output, probabilities, digit
    if (right) {
      std::vector<float> row(10);
      std::memcpy(row.data(), r->body.data() + size + 40, 40);
      right = e_.is(std::stoull(body["model_version"].get<std::string>()), digit(number), row);
    }
    count(right, r);
  }

  httplib::Client client_;
  const expectation& e_;
  const std::vector<malformed>& bad_;
  const bool may_end_;
  outcome found_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const int port = std::atoi(argv[1]), connections = std::atoi(argv[3]);
  const auto requests = std::strtoull(argv[2], nullptr, 10);
  const expectation expected(argv[4], argv[argc - 1]);
  const std::vector<malformed> bad = malformed_bodies(expected.data[0]);
  std::atomic<std::uint64_t> next = 0;
  std::mutex guard;
  outcome all;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int c = 0; c < connections; ++c)
    threads.emplace_back([&] {
      caller mine(port, expected, bad, argc == 6);
      for (std::uint64_t n; !mine.ended() && (n = next++) < requests;) mine.ask(n);
      const std::lock_guard lock(guard);
      for (const auto& [code, count] : mine.found().codes) all.codes[code] += count;
      all.wrong += mine.found().wrong;
      all.lost += mine.found().lost;
      all.right += mine.found().right;
      all.rows += mine.found().rows;
      all.refused += mine.found().refused;
    });
  for (std::thread& t : threads) t.join();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  json codes = json::object();
  std::uint64_t answers = 0;
  for (const auto& [code, count] : all.codes) {
    codes[std::to_string(code)] = count;
    answers += static_cast<std::uint64_t>(count);
  }
  std::printf("%s\n", json{{"answers", answers},
                           {"codes", codes},
                           {"right", all.right},
                           {"rows", all.rows},
                           {"wrong", all.wrong},
                           {"lost", all.lost},
                           {"refused", all.refused},
                           {"seconds", seconds}}
                          .dump()
                          .c_str());
  return all.wrong == 0 && all.lost == 0 && (argc == 6 || answers == requests) ? 0 : 1;
}
