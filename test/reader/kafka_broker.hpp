// SPDX-License-Identifier: Apache-2.0
// test/reader/kafka_broker.hpp - a broker of Kafka in this process: librdkafka's own, for tests.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// The macros of librdkafka that check the types of arguments are statement expressions.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wgnu-statement-expression"
#endif

namespace test {

/// A cluster of brokers that live as long as this object, and a producer of messages.
class kafka_broker {
 public:
  explicit kafka_broker(int brokers = 1) {
    ::rd_kafka_conf_t* const conf = ::rd_kafka_conf_new();
    const std::string count = std::to_string(brokers);
    char why[512] = "";
    if (::rd_kafka_conf_set(conf, "test.mock.num.brokers", count.c_str(), why, sizeof why) !=
            RD_KAFKA_CONF_OK ||
        ::rd_kafka_conf_set(conf, "linger.ms", "0", why, sizeof why) != RD_KAFKA_CONF_OK)
      throw std::runtime_error(why);
    handle_ = ::rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (handle_ == nullptr) throw std::runtime_error(why);
    cluster_ = ::rd_kafka_handle_mock_cluster(handle_);
  }
  kafka_broker(const kafka_broker&) = delete;
  kafka_broker& operator=(const kafka_broker&) = delete;
  ~kafka_broker() { ::rd_kafka_destroy(handle_); }

  std::string address() const { return ::rd_kafka_mock_cluster_bootstraps(cluster_); }
  ::rd_kafka_mock_cluster_t* cluster() const { return cluster_; }
  void create(const std::string& topic, int partitions) {
    const auto e = ::rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
    if (e != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(::rd_kafka_err2str(e));
  }
  /// Puts a message at the end of a partition; flush() waits until all lie there.
  void put(const std::string& topic, int partition, const std::string& value,
           const std::string& key = "") {
    for (;;) {
      const auto e = ::rd_kafka_producev(
          handle_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
          RD_KAFKA_V_KEY(key.data(), key.size()), RD_KAFKA_V_END);
      if (e == RD_KAFKA_RESP_ERR_NO_ERROR) return;
      if (e != RD_KAFKA_RESP_ERR__QUEUE_FULL) throw std::runtime_error(::rd_kafka_err2str(e));
      ::rd_kafka_poll(handle_, 10);
    }
  }
  void flush() {
    const auto e = ::rd_kafka_flush(handle_, 20000);
    if (e != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(::rd_kafka_err2str(e));
  }

 private:
  ::rd_kafka_t* handle_ = nullptr;
  ::rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

}  // namespace test
