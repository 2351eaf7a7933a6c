// The same peer as the example `interop_peer` of prehend-ros, on rclcpp: it offers one of everything below /interop/NAME, uses what another
// peer offers below /interop/OTHER, takes one command a line on stdin and answers with one JSON object a line on stdout.
//
//     rclcpp_peer [NAME [OTHER]]        (ros2, peer)
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "control_msgs/action/gripper_command.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_action/rclcpp_action.hpp"
#include "sensor_msgs/msg/image.hpp"
#include "std_msgs/msg/string.hpp"
#include "std_srvs/srv/set_bool.hpp"
#include "std_srvs/srv/trigger.hpp"

using control_msgs::action::GripperCommand;
using sensor_msgs::msg::Image;
using std_srvs::srv::SetBool;
using std_srvs::srv::Trigger;
using Text = std_msgs::msg::String;
using Words = std::vector<std::string>;
using ServerGoal = rclcpp_action::ServerGoalHandle<GripperCommand>;
using ClientGoal = rclcpp_action::ClientGoalHandle<GripperCommand>;
using namespace std::chrono_literals;

namespace
{
constexpr auto kDeadline = 20s;
constexpr auto kSilence = 3s;
constexpr std::size_t kLongText = 200'000;

const rclcpp::QoS kLatched = rclcpp::QoS(1).reliable().transient_local();

std::string as_json(const std::string & text)
{
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

template<typename Range, typename Print>
std::string list(const Range & range, Print print)
{
  std::string out = "[";
  for (const auto & item : range) {
    out += (out.size() > 1 ? ", " : "") + print(item);
  }
  return out + "]";
}

std::string truth(bool value) {return value ? "true" : "false";}

/// The value of a future, or an error when it does not come.
template<typename Future>
auto answered(const std::string & what, Future & future, std::chrono::seconds wait = kDeadline)
{
  if (future.wait_for(wait) != std::future_status::ready) {
    throw std::runtime_error(what + " did not come");
  }
  return future.get();
}

/// Samples in the order in which they came. Shared with the callback, which may outlast the subscription for a moment.
template<typename T>
class Heard
{
public:
  void put(T value)
  {
    {
      std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    changed_.notify_one();
  }

  /// The next one, unless none comes.
  bool next(T & value, std::chrono::milliseconds wait)
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, wait, [this] {return !values_.empty();})) {
      return false;
    }
    value = std::move(values_.front());
    values_.pop_front();
    return true;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
};

class Peer
{
public:
  Peer(const std::string & name, const std::string & other)
  : node_(std::make_shared<rclcpp::Node>(name, "/interop")), own_("/interop/" + name + "/"), other_("/interop/" + other + "/")
  {
    gain_ = node_->declare_parameter("gain", 1.5);
    numbers_ = node_->create_publisher<Text>(own_ + "numbers", rclcpp::QoS(1000));
    images_ = node_->create_publisher<Image>(own_ + "images", rclcpp::SensorDataQoS());
    large_ = node_->create_publisher<Image>(own_ + "large", rclcpp::QoS(2));
    latched_ = node_->create_publisher<Text>(own_ + "latched", kLatched);
    for (const auto * text : {"first", "second", "third"}) {
      Text message;
      message.data = text;
      latched_->publish(message);
    }
    serve();
    switch_ = node_->create_client<SetBool>(other_ + "switch");
    text_ = node_->create_client<Trigger>(other_ + "text");
    gripper_ = rclcpp_action::create_client<GripperCommand>(node_, other_ + "gripper");
    parameters_ = std::make_shared<rclcpp::AsyncParametersClient>(node_, other_.substr(0, other_.size() - 1));
  }

  rclcpp::Node::SharedPtr node() const {return node_;}
  double gain() const {return gain_;}

  std::string obey(const Words & words)
  {
    const auto is = [&words](const char * what, std::size_t count) {return words.size() == count && words[0] == what;};
    if (is("nodes", 1)) {return list(node_->get_node_names(), as_json);}
    if (is("topics", 1)) {return topics();}
    if (is("say", 2)) {return say(std::stoul(words[1]));}
    if (is("show", 6)) {
      return show(words[1], std::stoul(words[2]), std::stoul(words[3]), std::stoul(words[4]), std::stod(words[5]));
    }
    if (is("hear", 3) && words[1] == "numbers") {return hear_numbers(std::stoul(words[2]));}
    if (is("hear", 2) && words[1] == "latched") {return hear_latched();}
    if (is("hear", 3)) {return hear_images(words[1], std::stoul(words[2]));}
    if (is("call", 2)) {return call(std::stoul(words[1]));}
    if (is("text", 1)) {return text();}
    if (is("goal", 2)) {return goal(std::stod(words[1]), 0);}
    if (is("cancel", 3)) {return goal(std::stod(words[1]), std::stoul(words[2]));}
    if (is("parameters", 1)) {return parameters();}
    throw std::runtime_error("no such command");
  }

private:
  void serve()
  {
    switch_server_ = node_->create_service<SetBool>(
      own_ + "switch", [](const std::shared_ptr<SetBool::Request> request, std::shared_ptr<SetBool::Response> response) {
        response->success = request->data;
        response->message = std::string("switched ") + (request->data ? "true" : "false");
      });
    text_server_ = node_->create_service<Trigger>(
      own_ + "text", [](const std::shared_ptr<Trigger::Request>, std::shared_ptr<Trigger::Response> response) {
        response->success = true;
        response->message = std::string(kLongText, 'x');
      });
    gripper_server_ = rclcpp_action::create_server<GripperCommand>(
      node_, own_ + "gripper",
      [](const rclcpp_action::GoalUUID &, std::shared_ptr<const GripperCommand::Goal> goal) {
        return goal->command.position < 0 ? rclcpp_action::GoalResponse::REJECT : rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [](const std::shared_ptr<ServerGoal>) {return rclcpp_action::CancelResponse::ACCEPT;},
      [](const std::shared_ptr<ServerGoal> goal) {std::thread(close, goal).detach();});
  }

  /// Closes step by step, until it is there or is told to stop; a goal above 1 asks for more than the gripper can do.
  static void close(const std::shared_ptr<ServerGoal> goal)
  {
    auto result = std::make_shared<GripperCommand::Result>();
    auto feedback = std::make_shared<GripperCommand::Feedback>();
    double position = 0.0;
    while (position < goal->get_goal()->command.position) {
      std::this_thread::sleep_for(20ms);
      result->position = position;
      if (goal->is_canceling()) {
        goal->canceled(result);
        return;
      }
      position += 0.1;
      result->position = position;
      if (position > 1.05) {
        result->stalled = true;
        goal->abort(result);
        return;
      }
      feedback->position = position;
      goal->publish_feedback(feedback);
    }
    result->reached_goal = true;
    goal->succeed(result);
  }

  std::string topics()
  {
    std::string out = "{";
    for (const auto & [topic, types] : node_->get_topic_names_and_types()) {
      out += (out.size() > 1 ? ", " : "") + as_json(topic) + ": " + list(types, as_json);
    }
    return out + "}";
  }

  std::string say(std::size_t count)
  {
    Text message;
    for (std::size_t number = 0; number < count; ++number) {
      message.data = std::to_string(number);
      numbers_->publish(message);
    }
    return "{\"sent\": " + std::to_string(count) + "}";
  }

  /// Pictures whose bytes follow from their number, each stamped when it is sent.
  std::string show(const std::string & what, std::size_t count, unsigned width, unsigned height, double rate)
  {
    const auto & publisher = what == "large" ? large_ : images_;
    auto due = std::chrono::steady_clock::now();
    for (std::size_t number = 0; number < count; ++number) {
      std::this_thread::sleep_until(due);
      due += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / rate));
      auto image = std::make_unique<Image>();
      image->width = width;
      image->height = height;
      image->encoding = "rgb8";
      image->step = 3 * width;
      image->data.resize(static_cast<std::size_t>(image->step) * height);
      for (std::size_t at = 0; at < image->data.size(); ++at) {
        image->data[at] = static_cast<std::uint8_t>(at + number);
      }
      image->header.frame_id = std::to_string(number);
      image->header.stamp = node_->now();
      publisher->publish(std::move(image));
    }
    return "{\"sent\": " + std::to_string(count) + "}";
  }

  std::string hear_numbers(std::size_t count)
  {
    const auto heard = std::make_shared<Heard<std::string>>();
    kept_.push_back(node_->create_subscription<Text>(
      other_ + "numbers", rclcpp::QoS(1000), [heard](Text::ConstSharedPtr message) {heard->put(message->data);}));
    std::size_t received = 0;
    bool in_order = true;
    std::string text;
    for (std::chrono::milliseconds wait = kDeadline; received < count && heard->next(text, wait); wait = kSilence) {
      in_order = in_order && text == std::to_string(received);
      ++received;
    }
    return "{\"received\": " + std::to_string(received) + ", \"in_order\": " + truth(in_order) + "}";
  }

  std::string hear_latched()
  {
    const auto heard = std::make_shared<Heard<std::string>>();
    kept_.push_back(node_->create_subscription<Text>(
      other_ + "latched", kLatched, [heard](Text::ConstSharedPtr message) {heard->put(message->data);}));
    Words all;
    std::string text;
    for (std::chrono::milliseconds wait = kDeadline; heard->next(text, wait); wait = 500ms) {
      all.push_back(text);
    }
    if (all.empty()) {
      throw std::runtime_error("nothing came");
    }
    return "{\"newest\": " + as_json(all.back()) + ", \"all\": " + list(all, as_json) + "}";
  }

  std::string hear_images(const std::string & what, std::size_t count)
  {
    struct Seen {double late_ms; bool whole; std::size_t bytes;};
    const auto heard = std::make_shared<Heard<Seen>>();
    const rclcpp::QoS qos = what == "large" ? rclcpp::QoS(10) : rclcpp::QoS(rclcpp::SensorDataQoS());
    kept_.push_back(node_->create_subscription<Image>(
      other_ + what, qos, [node = node_.get(), heard](Image::ConstSharedPtr image) {
        const double late_ms = (node->now() - rclcpp::Time(image->header.stamp)).seconds() * 1e3;
        const auto number = std::stoul(image->header.frame_id);
        bool whole = image->data.size() == static_cast<std::size_t>(image->step) * image->height;
        // Every byte of a large one would take longer than its way here.
        for (std::size_t at = 0; at < image->data.size(); at += 997) {
          whole = whole && image->data[at] == static_cast<std::uint8_t>(at + number);
        }
        heard->put({late_ms, whole, image->data.size()});
      }));
    std::vector<double> late;
    bool whole = true;
    Seen seen{};
    for (std::chrono::milliseconds wait = kDeadline; late.size() < count && heard->next(seen, wait); wait = kSilence) {
      late.push_back(seen.late_ms);
      whole = whole && seen.whole;
    }
    return "{\"received\": " + std::to_string(late.size()) + ", \"whole\": " + truth(whole) + ", \"bytes\": " + std::to_string(seen.bytes) +
           ", \"latencies_ms\": " + list(late, [](double value) {return std::to_string(value);}) + "}";
  }

  std::string call(std::size_t count)
  {
    if (!switch_->wait_for_service(kDeadline)) {
      throw std::runtime_error("no service " + other_ + "switch");
    }
    std::vector<double> trips;
    std::size_t right = 0;
    for (std::size_t number = 0; number < count; ++number) {
      auto request = std::make_shared<SetBool::Request>();
      request->data = number % 2 == 0;
      const auto begin = std::chrono::steady_clock::now();
      auto future = switch_->async_send_request(request).future.share();
      const auto response = answered("an answer", future);
      trips.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
      right += response->success == request->data && response->message == "switched " + truth(request->data);
    }
    return "{\"right\": " + std::to_string(right) + ", \"trips_ms\": " + list(trips, [](double value) {return std::to_string(value);}) + "}";
  }

  std::string text()
  {
    if (!text_->wait_for_service(kDeadline)) {
      throw std::runtime_error("no service " + other_ + "text");
    }
    auto future = text_->async_send_request(std::make_shared<Trigger::Request>()).future.share();
    const auto response = answered("the text", future);
    return "{\"success\": " + truth(response->success) + ", \"length\": " + std::to_string(response->message.size()) + "}";
  }

  /// Sends a goal and follows it; cancels it after some feedbacks, unless 0.
  std::string goal(double position, std::size_t cancel_after)
  {
    if (!gripper_->wait_for_action_server(kDeadline)) {
      throw std::runtime_error("no action " + other_ + "gripper");
    }
    auto heard = std::make_shared<std::atomic<std::size_t>>(0);
    auto enough = std::make_shared<std::promise<void>>();
    auto reached = enough->get_future();
    typename rclcpp_action::Client<GripperCommand>::SendGoalOptions options;
    options.feedback_callback = [heard, enough, cancel_after](ClientGoal::SharedPtr, const std::shared_ptr<const GripperCommand::Feedback>) {
        if (++*heard == cancel_after) {
          enough->set_value();
        }
      };
    GripperCommand::Goal wanted;
    wanted.command.position = position;
    auto accepting = gripper_->async_send_goal(wanted, options);
    const auto handle = answered("the goal's answer", accepting);
    if (!handle) {
      throw std::runtime_error("the goal was rejected");
    }
    auto ending = gripper_->async_get_result(handle);
    if (cancel_after > 0) {
      answered("feedback", reached);
      auto cancelling = gripper_->async_cancel_goal(handle);
      answered("the answer to the cancel request", cancelling);
    }
    const auto ended = answered("the result", ending);
    // The last feedback may still be on its way.
    std::this_thread::sleep_for(200ms);
    const std::map<rclcpp_action::ResultCode, std::string> names{
      {rclcpp_action::ResultCode::SUCCEEDED, "Succeeded"}, {rclcpp_action::ResultCode::ABORTED, "Aborted"},
      {rclcpp_action::ResultCode::CANCELED, "Canceled"}, {rclcpp_action::ResultCode::UNKNOWN, "Unknown"}};
    return "{\"status\": " + as_json(names.at(ended.code)) + ", \"feedback\": " + std::to_string(heard->load()) + ", \"position\": " +
           std::to_string(ended.result->position) + ", \"reached\": " + truth(ended.result->reached_goal) + "}";
  }

  /// Lists the other side's parameters, sets `gain`, and tries to set it to a text.
  std::string parameters()
  {
    if (!parameters_->wait_for_service(kDeadline)) {
      throw std::runtime_error("no parameter services of " + other_);
    }
    const auto read = [this] {
        auto future = parameters_->get_parameters({"gain"});
        const auto values = answered("the value", future);
        return values.empty() ? std::nan("") : values[0].as_double();
      };
    const auto change = [this](const rclcpp::Parameter & parameter) {
        auto future = parameters_->set_parameters({parameter});
        return answered("the verdict", future);
      };
    auto listing = parameters_->list_parameters({}, 0);
    const auto listed = answered("the list", listing).names;
    const double before = read();
    const auto set = change(rclcpp::Parameter("gain", 2.5));
    const auto text = change(rclcpp::Parameter("gain", "loud"));
    const double after = read();
    const auto verdict = [](const rcl_interfaces::msg::SetParametersResult & result) {return truth(result.successful);};
    return "{\"listed\": " + list(listed, as_json) + ", \"before\": " + std::to_string(before) + ", \"after\": " + std::to_string(after) +
           ", \"set\": " + list(set, verdict) + ", \"text\": " + list(text, verdict) + "}";
  }

  rclcpp::Node::SharedPtr node_;
  std::string own_;
  std::string other_;
  double gain_{};
  rclcpp::Publisher<Text>::SharedPtr numbers_, latched_;
  rclcpp::Publisher<Image>::SharedPtr images_, large_;
  rclcpp::Service<SetBool>::SharedPtr switch_server_;
  rclcpp::Service<Trigger>::SharedPtr text_server_;
  rclcpp_action::Server<GripperCommand>::SharedPtr gripper_server_;
  rclcpp::Client<SetBool>::SharedPtr switch_;
  rclcpp::Client<Trigger>::SharedPtr text_;
  rclcpp_action::Client<GripperCommand>::SharedPtr gripper_;
  /// With rclcpp 28.1 on a newer rcl, an action client gets no feedback any more once the node dropped a subscription.
  std::vector<rclcpp::SubscriptionBase::SharedPtr> kept_;
  std::shared_ptr<rclcpp::AsyncParametersClient> parameters_;
};
}  // namespace

int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  {
    Peer peer(argc > 1 ? argv[1] : "ros2", argc > 2 ? argv[2] : "peer");
    // Every callback is short; what takes its time has a thread of its own.
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(peer.node());
    std::thread spinning([&executor] {executor.spin();});
    std::cout << "{\"ready\": true, \"gain\": " << peer.gain() << "}" << std::endl;
    std::string line;
    while (rclcpp::ok() && std::getline(std::cin, line)) {
      std::istringstream stream(line);
      Words words;
      for (std::string word; stream >> word; ) {
        words.push_back(word);
      }
      std::string answer;
      try {
        answer = "\"ok\": true, \"seen\": " + peer.obey(words);
      } catch (const std::exception & error) {
        answer = "\"ok\": false, \"error\": " + as_json(error.what());
      }
      std::cout << "{" << answer << ", \"command\": " << as_json(line) << "}" << std::endl;
    }
    executor.cancel();
    spinning.join();
  }
  rclcpp::shutdown();
  return 0;
}
