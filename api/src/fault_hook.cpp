#include "nuna/fault_hook.hpp"

#include "adsm/fault_handler.hpp"

namespace nuna::detail {

void set_fault_hook(FaultHook hook) { adsm::FaultHandler::set_hook(hook); }

}  // namespace nuna::detail
