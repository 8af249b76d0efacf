// Functions that remember earlier steps.
#include <algorithm>

#include "policy/expression_nodes.h"

namespace sonde::policy::condition {
namespace {

// One state for the whole condition, or inside any and all one for each tensor.
template <class State>
class Memory {
 public:
  explicit Memory(State fresh) : fresh_(std::move(fresh)) {}
  State& at(const Context& context) {
    const std::size_t place = context.tensor == nullptr ? 0 : context.tensor->id;
    if (place >= states_.size()) states_.resize(place + 1, fresh_);
    return states_[place];
  }

 private:
  State fresh_;
  std::vector<State> states_;
};

// The number of values that a window needs before it gives a result.
std::size_t warm_up(std::size_t window) { return std::max<std::size_t>(10, window / 10); }

class Windowed : public Node {
 public:
  Windowed(NodePtr argument, std::size_t window)
      : argument_(std::move(argument)), capacity_(window), windows_(Window(window)) {}

 protected:
  Node& argument() const { return *argument_; }
  Window& window(const Context& context) { return windows_.at(context); }
  // The window with the argument's value of this step in it.
  Window& push(Context& context) {
    const Number x = argument_->evaluate(context);
    Window& last = window(context);
    if (Window::takes(x.value)) last.push(context.facts.step, x.value);
    return last;
  }
  std::size_t capacity() const { return capacity_; }

 private:
  NodePtr argument_;
  std::size_t capacity_;
  Memory<Window> windows_;
};

class ZScore final : public Windowed {
 public:
  using Windowed::Windowed;
  Number evaluate(Context& context) override {
    const Number x = argument().evaluate(context);
    if (std::isnan(x.value)) return {};
    Window& earlier = window(context);
    const Number score = earlier.size() < warm_up(capacity()) ? Number() : Number(score_of(x.value, earlier));
    if (Window::takes(x.value)) earlier.push(context.facts.step, x.value);
    return score;
  }

 private:
  static double score_of(double x, const Window& earlier) {
    const double deviation = earlier.stddev();
    const double distance = x - earlier.mean();
    if (deviation > 0) return distance / deviation;
    return distance == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), distance);
  }
};

class Trend final : public Windowed {
 public:
  using Windowed::Windowed;
  Number evaluate(Context& context) override {
    const Window& last = push(context);
    return last.full() ? Number(last.slope()) : Number();
  }
};

class Average final : public Windowed {
 public:
  using Windowed::Windowed;
  Number evaluate(Context& context) override {
    const Window& last = push(context);
    return last.full() || last.size() >= warm_up(capacity()) ? Number(last.mean()) : Number();
  }
};

class Delta final : public Node {
 public:
  explicit Delta(NodePtr argument) : argument_(std::move(argument)), previous_(Number()) {}
  Number evaluate(Context& context) override {
    const Number x = argument_->evaluate(context);
    if (std::isnan(x.value)) return {};
    const Number previous = std::exchange(previous_.at(context), x);
    return previous.absent ? Number() : Number(x.value - previous.value);
  }

 private:
  NodePtr argument_;
  Memory<Number> previous_;
};

class Rising final : public Node {
 public:
  Rising(NodePtr argument, NodePtr level)
      : argument_(std::move(argument)), level_(std::move(level)), previous_(Number()) {}
  Number evaluate(Context& context) override {
    const Number x = argument_->evaluate(context);
    const Number level = level_->evaluate(context);
    if (std::isnan(x.value)) return false;
    const Number previous = std::exchange(previous_.at(context), x);
    return previous.value <= level.value && x.value > level.value;
  }

 private:
  NodePtr argument_;
  NodePtr level_;
  Memory<Number> previous_;
};

}  // namespace

NodePtr zscore(NodePtr argument, std::size_t window) { return std::make_unique<ZScore>(std::move(argument), window); }
NodePtr trend(NodePtr argument, std::size_t window) { return std::make_unique<Trend>(std::move(argument), window); }
NodePtr average(NodePtr argument, std::size_t window) { return std::make_unique<Average>(std::move(argument), window); }
NodePtr delta(NodePtr argument) { return std::make_unique<Delta>(std::move(argument)); }
NodePtr rising(NodePtr argument, NodePtr level) {
  return std::make_unique<Rising>(std::move(argument), std::move(level));
}

}  // namespace sonde::policy::condition
