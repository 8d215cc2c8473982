#include "driver/shared_variables.hpp"

#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/raw_ostream.h>

#include <set>
#include <stdexcept>

namespace nuna::compiler {

namespace {

template <class T>
T checked(llvm::Expected<T> result, const std::string& file) {
  if (!result) throw std::runtime_error(file + ": " + llvm::toString(result.takeError()));
  return std::move(*result);
}

llvm::object::OwningBinary<llvm::object::ObjectFile> opened(const std::string& file) {
  return checked(llvm::object::ObjectFile::createObjectFile(file), file);
}

}  // namespace

std::vector<std::string> shared_variables(const std::string& host_object, const std::string& device_object) {
  const auto device = opened(device_object);
  std::set<std::string> wanted;
  for (const auto& symbol : device.getBinary()->symbols()) {
    if ((checked(symbol.getFlags(), device_object) & llvm::object::SymbolRef::SF_Undefined) != 0)
      wanted.insert(checked(symbol.getName(), device_object).str());
  }
  std::vector<std::string> found;
  const auto host = opened(host_object);
  for (const auto& symbol : host.getBinary()->symbols()) {
    const llvm::object::ELFSymbolRef elf(symbol);
    if (elf.getBinding() != llvm::ELF::STB_LOCAL || elf.getELFType() != llvm::ELF::STT_OBJECT) continue;
    auto name = checked(symbol.getName(), host_object).str();
    if (wanted.count(name) != 0) found.push_back(std::move(name));
  }
  return found;
}

void bind_symbols(const std::string& object, const std::vector<std::string>& names, Binding binding) {
  namespace objcopy = llvm::objcopy;
  objcopy::ConfigManager config;
  config.Common.InputFilename = config.Common.OutputFilename = object;
  auto& matcher =
      binding == Binding::global ? config.Common.SymbolsToGlobalize : config.Common.SymbolsToLocalize;
  auto fail = [&](llvm::Error error) {
    if (error) throw std::runtime_error(object + ": " + llvm::toString(std::move(error)));
  };
  for (const auto& name : names) {
    fail(matcher.addMatcher(objcopy::NameOrPattern::create(name, objcopy::MatchStyle::Literal,
                                                           [](llvm::Error error) { return error; })));
  }
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream to(bytes);
  {
    auto file = opened(object);
    fail(objcopy::executeObjcopyOnBinary(config, *file.getBinary(), to));
  }
  std::error_code problem;
  llvm::raw_fd_ostream written(object, problem);
  if (problem) throw std::runtime_error(object + ": " + problem.message());
  written << llvm::StringRef(bytes.data(), bytes.size());
}

}  // namespace nuna::compiler
