// What comes back from another thread, in order. The list is made of the objects themselves, each of which has a member
// `std::unique_ptr<Node> next`: what was handed out comes back also where there is no memory left.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace sonde::record {

template <class Node>
class ReturnList {
 public:
  ReturnList() = default;
  ~ReturnList() {
    while (take()) {
    }
  }
  ReturnList(const ReturnList&) = delete;
  ReturnList& operator=(const ReturnList&) = delete;

  void put(std::unique_ptr<Node> node) noexcept {
    const std::scoped_lock lock(mutex_);
    Node* const added = node.get();
    (last_ != nullptr ? last_->next : first_) = std::move(node);
    last_ = added;
  }
  // The first one, or null.
  std::unique_ptr<Node> take() noexcept {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Node> node = std::move(first_);
    if (node) first_ = std::move(node->next);
    if (!first_) last_ = nullptr;
    return node;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Node> first_;
  Node* last_ = nullptr;
};

}  // namespace sonde::record
