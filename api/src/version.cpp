#include "nuna/version.hpp"

namespace nuna {
inline namespace v0 {

const char* version() noexcept { return NUNA_VERSION; }

}  // namespace v0
}  // namespace nuna
