#pragma once
// Objects that programs hold by opaque handles: a handle is the object's address, and is looked up at each use, so that one that
// is wrong, or whose object was destroyed, is told.

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace nuna::cudart {

/// Any thread. Objects live until the last user of find() has let go.
template <class Object>
class Handles {
 public:
  Object* add(std::shared_ptr<Object> object) {
    Object* const handle = object.get();
    const std::unique_lock lock(mutex_);
    objects_[handle] = std::move(object);
    return handle;
  }
  /// Null when there is none.
  std::shared_ptr<Object> find(const void* handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Object> remove(const void* handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    auto object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  void clear() {
    std::unordered_map<const void*, std::shared_ptr<Object>> gone;
    const std::unique_lock lock(mutex_);
    gone.swap(objects_);
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Object>> objects_;
};

/// The handles of one kind, for the whole process; never destroyed, because destructors of the program may use it.
template <class Object>
Handles<Object>& handles() {
  static auto* const only = new Handles<Object>;
  return *only;
}

}  // namespace nuna::cudart
