#include "driver/device_section.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "codegen/image.hpp"
#include "codegen/machine.hpp"

namespace nuna::compiler {

namespace {

constexpr const char* kSection = ".nuna.device";
constexpr const char* kRegister = "__cudaRegisterLinkedBinary";
constexpr char kMagic[9] =
    "NUNADEV1";  // 8 bytes, then the length of the bitcode in 8 bytes, then the bitcode

/// Throws what LLVM says of a file.
template <class T>
T checked(llvm::Expected<T> result, const std::string& file) {
  if (!result) throw std::runtime_error(file + ": " + llvm::toString(result.takeError()));
  return std::move(*result);
}

std::unique_ptr<llvm::MemoryBuffer> read(const std::string& file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, false, false);
  if (!buffer) throw std::runtime_error(file + ": " + buffer.getError().message());
  return std::move(*buffer);
}

std::vector<std::string> registrations(const std::string& host_object) {
  const auto buffer = read(host_object);
  const auto object =
      checked(llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef()), host_object);
  std::vector<std::string> names;
  for (const auto& symbol : object->symbols()) {
    const auto name = checked(symbol.getName(), host_object);
    if (name.starts_with(kRegister)) names.push_back(name.str());
  }
  return names;
}

/// void name(void (*callback)(void**), void* wrapper, ...): the kernels of one object, registered as those of any other.
void define_registration(llvm::Module& module, const std::string& name) {
  llvm::IRBuilder<> at(module.getContext());
  auto* ptr = at.getPtrTy();
  auto* takes = llvm::FunctionType::get(at.getVoidTy(), {ptr}, false);
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(at.getVoidTy(), {ptr, ptr, ptr, ptr}, false),
                             llvm::GlobalValue::ExternalLinkage, name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  at.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  auto returns = llvm::FunctionType::get(ptr, {ptr}, false);
  auto* handle =
      at.CreateCall(module.getOrInsertFunction("__cudaRegisterFatBinary", returns), {function->getArg(1)});
  at.CreateCall(takes, function->getArg(0), {handle});
  at.CreateCall(module.getOrInsertFunction("__cudaRegisterFatBinaryEnd", takes), {handle});
  at.CreateRetVoid();
}

void write_object(llvm::Module& module, llvm::TargetMachine& machine, const std::string& object) {
  std::error_code problem;
  llvm::raw_fd_ostream to(object, problem);
  if (problem) throw std::runtime_error(object + ": " + problem.message());
  llvm::legacy::PassManager passes;
  machine.addPassesToEmitFile(passes, to, nullptr, llvm::CodeGenFileType::ObjectFile);
  passes.run(module);
}

void extract(llvm::MemoryBufferRef from, const std::string& file, const std::string& folder,
             DeviceCode& found) {
  auto object = llvm::object::ObjectFile::createObjectFile(from);
  if (!object) {
    llvm::consumeError(object.takeError());  // the linker will say what it is
    return;
  }
  for (const auto& section : (*object)->sections()) {
    const auto name_of_section = checked(section.getName(), file);
    found.linked |= name_of_section == kLinkedSection;
    if (name_of_section != kSection) continue;
    auto bytes = checked(section.getContents(), file);
    while (bytes.size() >= 16) {
      std::uint64_t length = 0;
      std::memcpy(&length, bytes.data() + 8, 8);
      if (!bytes.starts_with(kMagic) || length > bytes.size() - 16) {
        throw std::runtime_error(file + ": its device code is damaged; compile it again");
      }
      const auto name = folder + "/linked-" + std::to_string(found.bitcode.size()) + ".bc";
      std::ofstream(name, std::ios::binary).write(bytes.data() + 16, static_cast<std::streamsize>(length));
      found.bitcode.push_back(name);
      bytes = bytes.drop_front(std::min<std::size_t>(bytes.size(), 16 + (length + 15) / 16 * 16));
    }
  }
}

}  // namespace

void write_device_section(const std::string& bitcode, const std::string& host_object,
                          const std::string& object) {
  const auto machine = make_machine("x86-64");
  llvm::LLVMContext context;
  llvm::Module module("device", context);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  const auto code = read(bitcode);
  std::string bytes(kMagic, 8);
  const std::uint64_t length = code->getBufferSize();
  bytes.append(reinterpret_cast<const char*>(&length), 8);
  bytes.append(code->getBufferStart(), length);
  bytes.resize((bytes.size() + 15) / 16 * 16);
  auto* value = llvm::ConstantDataArray::getString(context, bytes, false);
  auto* variable = new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                            value, "nuna.device");
  variable->setSection(kSection);
  variable->setAlignment(llvm::Align(16));
  variable->setMetadata(llvm::LLVMContext::MD_exclude, llvm::MDNode::get(context, {}));
  llvm::appendToCompilerUsed(module, {variable});
  for (const auto& name : registrations(host_object)) define_registration(module, name);

  write_object(module, *machine, object);
}

DeviceCode extract_device_code(const std::vector<std::string>& files, const std::string& folder) {
  DeviceCode found;
  for (const auto& file : files) {
    if (!std::filesystem::exists(file)) continue;
    const auto buffer = read(file);
    const auto reference = buffer->getMemBufferRef();
    if (!reference.getBuffer().starts_with("!<arch>\n")) {
      extract(reference, file, folder, found);
      continue;
    }
    const auto archive = checked(llvm::object::Archive::create(reference), file);
    llvm::Error problem = llvm::Error::success();
    for (const auto& member : archive->children(problem)) {
      extract(checked(member.getMemoryBufferRef(), file), file, folder, found);
    }
    if (problem) throw std::runtime_error(file + ": " + llvm::toString(std::move(problem)));
  }
  return found;
}

void write_empty_object(const std::string& object) {
  const auto machine = make_machine("x86-64");
  llvm::LLVMContext context;
  llvm::Module module("empty", context);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  write_object(module, *machine, object);
}

}  // namespace nuna::compiler
