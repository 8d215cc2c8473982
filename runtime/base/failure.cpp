#include "base/failure.hpp"

namespace nuna::base {

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "something was thrown that is no std::exception";
  }
}

}  // namespace nuna::base
