#include "access/kernel_model.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

// In nuna::access: nlohmann's library finds these by argument.
namespace nuna::access {

using Json = nlohmann::json;

NLOHMANN_JSON_SERIALIZE_ENUM(Parameter::Kind, {{Parameter::Kind::scalar, "scalar"},
                                               {Parameter::Kind::block_size, "block size"},
                                               {Parameter::Kind::grid_size, "grid size"},
                                               {Parameter::Kind::derived, "derived"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Parameter::Operation,
                             {{Parameter::Operation::shifted, "shifted"},
                              {Parameter::Operation::quotient, "quotient"},
                              {Parameter::Operation::least, "least"},
                              {Parameter::Operation::most, "most"},
                              {Parameter::Operation::lowest_bit, "lowest bit"},
                              {Parameter::Operation::is_power_of_two, "is power of two"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Access::Kind, {{Access::Kind::read, "read"},
                                            {Access::Kind::write, "write"},
                                            {Access::Kind::atomic, "atomic"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Term, factor, parameters, variable)

static void to_json(Json& json, const Parameter& parameter) {
  json = {{"kind", parameter.kind}};
  if (parameter.kind == Parameter::Kind::scalar) {
    json["argument"] = parameter.argument;
    json["offset"] = parameter.offset;
    json["bytes"] = parameter.bytes;
    json["is_signed"] = parameter.is_signed;
  } else if (parameter.kind == Parameter::Kind::derived) {
    json["operation"] = parameter.operation;
    json["left"] = parameter.left;
    json["right"] = parameter.right;
  } else {
    json["axis"] = parameter.axis;
  }
}

static void from_json(const Json& json, Parameter& parameter) {
  json.at("kind").get_to(parameter.kind);
  if (parameter.kind == Parameter::Kind::scalar) {
    json.at("argument").get_to(parameter.argument);
    json.at("offset").get_to(parameter.offset);
    json.at("bytes").get_to(parameter.bytes);
    json.at("is_signed").get_to(parameter.is_signed);
  } else if (parameter.kind == Parameter::Kind::derived) {
    json.at("operation").get_to(parameter.operation);
    json.at("left").get_to(parameter.left);
    json.at("right").get_to(parameter.right);
  } else {
    json.at("axis").get_to(parameter.axis);
  }
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Constraint, left, is_equality)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SourceLine, file, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Pointer, argument, offset, variable)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Assumption, value, bits, is_signed, extra, domain, at)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Refusal, reason, at, of_addresses)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlockWork, at, loops, loads, stores, float_operations, integer_operations)

static void to_json(Json& json, const Access& access) {
  json = {{"kind", access.kind},   {"pointer", access.pointer}, {"bytes", access.bytes},
          {"extra", access.extra}, {"domain", access.domain},   {"exact", access.exact},
          {"at", access.at}};
  json["first_byte"] = access.first_byte ? Json(*access.first_byte) : Json();
}

static void from_json(const Json& json, Access& access) {
  json.at("kind").get_to(access.kind);
  json.at("pointer").get_to(access.pointer);
  json.at("bytes").get_to(access.bytes);
  json.at("extra").get_to(access.extra);
  json.at("domain").get_to(access.domain);
  json.at("exact").get_to(access.exact);
  json.at("at").get_to(access.at);
  const Json& first = json.at("first_byte");
  access.first_byte = first.is_null() ? std::nullopt : std::optional(first.get<Polynomial>());
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelModel, name, parameters, pointers, accesses, assumptions, refusals,
                                   prints, work)

namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error("a kernel's model: " + what); }

/// What follows reads indices without a look.
class Checker {
 public:
  explicit Checker(const KernelModel& model) : model_(model) {}

  void check() const {
    if (model_.parameters.size() < kScalars)
      refuse("the sizes of block and grid are not its first parameters");
    for (std::uint16_t i = 0; i < kScalars; ++i) {
      const auto kind = i < kGridSize ? Parameter::Kind::block_size : Parameter::Kind::grid_size;
      if (model_.parameters[i].kind != kind || model_.parameters[i].axis != i % 3)
        refuse("the sizes of block and grid are not its first parameters");
    }
    for (std::size_t i = 0; i < model_.parameters.size(); ++i) {
      const Parameter& parameter = model_.parameters[i];
      const auto bytes = parameter.bytes;
      if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        refuse("a parameter of " + std::to_string(bytes) + " bytes");
      for (const Polynomial* part : {&parameter.left, &parameter.right}) check(*part, kNoVariable + 1, i);
    }
    for (const Access& access : model_.accesses) {
      if (access.pointer >= model_.pointers.size()) refuse("an access through a pointer that is not there");
      if (access.first_byte) check(*access.first_byte, access.extra);
      for (const Constraint& constraint : access.domain) check(constraint.left, access.extra);
    }
    for (const Assumption& assumption : model_.assumptions) {
      if (assumption.bits < 1 || assumption.bits > 64)
        refuse("integers of " + std::to_string(assumption.bits) + " bits");
      check(assumption.value, assumption.extra);
      for (const Constraint& constraint : assumption.domain) check(constraint.left, assumption.extra);
    }
  }

 private:
  void check(const Polynomial& polynomial, int extra) const {
    if (extra < 0) refuse("a negative number of variables");
    check(polynomial, kExtra + extra, model_.parameters.size());
  }
  static void check(const Polynomial& polynomial, int variables, std::size_t parameters) {
    for (const Term& term : polynomial) {
      if (term.variable < kNoVariable || term.variable >= variables)
        refuse("there is no variable " + std::to_string(term.variable));
      for (const auto parameter : term.parameters) {
        if (parameter >= parameters) refuse("there is no parameter " + std::to_string(parameter));
      }
    }
  }

  const KernelModel& model_;
};

}  // namespace

std::string write_model(const KernelModel& model) { return Json(model).dump(); }

std::string write_models(const std::vector<KernelModel>& models) { return Json(models).dump(1) + "\n"; }

KernelModel read_model(std::string_view json) {
  KernelModel model;
  try {
    Json::parse(json).get_to(model);
  } catch (const Json::exception& error) {
    refuse(error.what());
  }
  Checker(model).check();
  return model;
}

}  // namespace nuna::access
