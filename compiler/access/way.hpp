#pragma once
// Way: one way in which a thread comes to an instruction, and what values are on it, as polynomials of the launch's numbers.
//
//   Choices choices(32);
//   do {
//     Way way(code, choices, Way::Flags::followed);
//     way.reach(*store.getParent());
//     auto address = way.address(*store.getPointerOperand());
//     ...                                          // a conjunction: one access::Access
//   } while (choices.next());                      // their union
//
// Where a condition has an "or", a value a select, or a block several predecessors, the way takes one side and says so in its
// constraints. What it cannot express it leaves out, and is no longer exact.
//
// Integers: a polynomial of a value of n bits is congruent to it modulo 2^n. Where the code asks what number it is (it is extended,
// compared, divided), the polynomial must lie in the range of n bits: so says a flag of clang's (nsw, nuw), the range of what it
// is made of, or else an assumption.
//
// Loops: a loop has a variable, the round. A value that grows by the same in each round is start + step * round; the condition that
// keeps the thread inside holds in this round and, as it grows towards its end, held in those before.

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "access/choices.hpp"
#include "access/kernel_code.hpp"
#include "access/polynomial.hpp"

namespace nuna::compiler {

/// What a pointer points to.
struct Address {
  const llvm::Value* object = nullptr;  ///< an argument, a variable, a local
  access::Polynomial offset;            ///< bytes behind it
};

class Way {
 public:
  /// Whether it looks into loops that end before it for who has set a flag: that makes many ways.
  enum class Flags { followed, ignored };
  Way(KernelCode& code, Choices& choices, Flags flags)
      : code_(code), choices_(choices), follows_flags_(flags == Flags::followed) {}

  /// Adds what holds where a thread runs `block`.
  void reach(const llvm::BasicBlock& block);

  Maybe congruent(const llvm::Value& value);
  enum class Sign { has, has_not };
  /// The number that `value` is, read with or without a sign.
  Maybe exact(const llvm::Value& value, Sign sign);
  std::optional<Address> address(const llvm::Value& pointer);

  /// Nobody goes this way.
  bool is_impossible() const { return is_impossible_; }
  bool is_exact() const { return is_exact_; }
  const std::vector<access::Constraint>& constraints() const { return constraints_; }

  /// On the way `value` lies in the range of `bits` bits, or the model does not hold.
  struct Wrap {
    access::Polynomial value;
    int bits;
    bool is_signed;
    std::size_t known;                     ///< so many of the constraints hold there,
    std::vector<access::Constraint> more;  ///< and these
    access::SourceLine at;
  };
  const std::vector<Wrap>& wraps() const { return wraps_; }
  int extra() const { return static_cast<int>(extra_.size()); }

 private:
  // values (way_values.cpp, way_numbers.cpp)
  Maybe make_exact(const llvm::Value& value, Sign sign);
  Maybe make_congruent(const llvm::Value& value);
  Maybe of_binary(const llvm::BinaryOperator& binary);
  // bits (way_bits.cpp)
  Maybe of_bits(const llvm::BinaryOperator& binary);
  Maybe of_mask(const llvm::Value& whole, const llvm::Value& mask);
  Maybe of_number_mask(const llvm::Value& whole, const llvm::APInt& mask);
  Maybe of_launch_mask(const Maybe& whole, const llvm::Value& mask);
  Maybe of_sides(const llvm::BinaryOperator& binary);
  Maybe power(const llvm::Value& exponent, int bits);
  Maybe derived(access::Parameter::Operation operation, const access::Polynomial& left,
                const access::Polynomial& right = {});
  bool have_no_bits_in_common(const llvm::Value& above, const llvm::Value& below);
  bool is_power_of_two(const access::Polynomial& number);
  const llvm::BinaryOperator* guarded_shift(const llvm::Value& value) const;

  Maybe of_register(unsigned which);
  Maybe of_truncated(const llvm::TruncInst& truncated);
  Maybe of_call(const llvm::CallBase& call);
  Maybe of_absolute(const llvm::IntrinsicInst& call);
  Maybe of_saturated(const llvm::IntrinsicInst& call);
  Maybe exact_binary(const llvm::BinaryOperator& binary, Sign sign);
  Maybe number_of(const llvm::ConstantInt& constant, Sign sign) const;
  /// Something between two constants: a byte from memory, a remainder.
  Maybe unknown(const llvm::Value& value, Sign sign);
  /// Rounded down; the divisor is positive, as a number or by what is assumed.
  Maybe quotient(const Maybe& dividend, const Maybe& divisor);
  Maybe quotient_in_bits(const llvm::Value& dividend, const llvm::Value& divisor, bool is_signed);
  /// The operand of a select, minimum or phi that this way has.
  const llvm::Value* taken(const llvm::Value& value);
  const llvm::Value* taken_of_phi(const llvm::PHINode& phi);
  Maybe of_known_extreme(const llvm::MinMaxIntrinsic& extreme);
  const llvm::Value* taken_of_extreme(const llvm::MinMaxIntrinsic& extreme);
  struct Extreme {
    const llvm::Value* one;
    const llvm::Value* other;
    bool is_most;
  };
  /// A minimum or maximum that no side was taken of yet.
  std::optional<Extreme> extreme_of(const llvm::Value& value, bool is_signed);
  Maybe fits(Maybe value, int bits, Sign sign, const llvm::Value& of);

  // conditions (way_conditions.cpp)
  void follow(const llvm::BasicBlock& from, const llvm::BasicBlock& to);
  void follow_switch(const llvm::SwitchInst& branch, const llvm::BasicBlock& to);
  void require(const llvm::Value& condition, bool truth);
  void require_either(const llvm::Value& a, const llvm::Value& b, bool truth);
  void require_compared(llvm::CmpInst::Predicate predicate, const llvm::Value& a, const llvm::Value& b);
  bool require_of_parts(llvm::CmpInst::Predicate predicate, const llvm::Value& a, const llvm::Value& b);
  void require_less(const Maybe& a, const Maybe& b, bool or_equal);
  void require_less_signed(const llvm::Value& a, const llvm::Value& b, bool or_equal);
  bool require_less_of_extreme(const llvm::Value& a, const llvm::Value& b, bool or_equal, bool is_signed);
  void require_less_unsigned(const llvm::Value& a, const llvm::Value& b, bool or_equal);
  void require_not_yet(const access::Polynomial& difference, const access::Polynomial& step);
  void require_equal(const Maybe& a, const Maybe& b, bool truth);
  void require_at_least_zero(Maybe left, bool is_equality = false);
  bool is_never_negative(const access::Polynomial& value) const;
  Range range(const access::Polynomial& value) const;
  void give_up() { is_exact_ = false; }

  // flags (way_flags.cpp)
  bool require_flag(llvm::CmpInst::Predicate predicate, const llvm::Value& flag, const llvm::Value& number);
  void require_bit(const llvm::Value& flag, bool truth);
  void require_bit_of_phi(const llvm::PHINode& flag, bool truth);
  void require_bit_at_header(const llvm::PHINode& flag, bool truth);
  void go_back_to_earlier_round(const llvm::Loop& loop, bool is_last, const std::function<void()>& look);
  bool leave_loop_over(const llvm::BasicBlock& from, const llvm::BasicBlock& to);

  // loops (way_loops.cpp)
  void begin_rounds(const llvm::Loop& loop, const llvm::BasicBlock& towards);
  void check_stays(const llvm::Loop& loop, std::size_t from_constraint, std::size_t from_wrap,
                   const llvm::BasicBlock& exiting, const llvm::BasicBlock& inside);
  void check_falls(const llvm::Loop& loop, const access::Constraint& stays);
  std::optional<std::vector<access::Constraint>> stayed_before(const llvm::Loop& loop,
                                                               const llvm::BasicBlock& exiting,
                                                               const llvm::BasicBlock& inside);
  Maybe round_of(const llvm::Loop& loop) const;
  Maybe of_recurrence(const llvm::PHINode& phi);
  Maybe of_scev(const llvm::SCEV& expression);
  Maybe of_extreme(const llvm::SCEVMinMaxExpr& extreme);
  std::optional<Address> address_of_recurrence(const llvm::PHINode& phi);
  const llvm::SCEVAddRecExpr* recurrence(const llvm::PHINode& phi) const;
  bool is_wrapless(const llvm::PHINode& phi, Sign sign) const;

  bool always_reaches(const llvm::BasicBlock& from, const llvm::BasicBlock& to) const;
  void reach_over(const llvm::BasicBlock& from, const llvm::BasicBlock& to);

  /// Nothing where there were too many, or nobody goes this way anyhow.
  std::optional<std::size_t> take_one_of(std::size_t alternatives);
  /// `where`: the block that the choice is made in; null where it may be another in each round of a loop.
  std::optional<std::size_t> choose(const void* between, std::size_t alternatives,
                                    const llvm::BasicBlock* where);
  int add_extra(const Range& range);

  KernelCode& code_;
  Choices& choices_;
  const bool follows_flags_;
  std::vector<access::Constraint> constraints_;
  std::vector<Wrap> wraps_;
  std::vector<Range> extra_;
  bool is_exact_ = true;
  bool is_impossible_ = false;
  bool trusts_flags_ = true;  ///< not below a freeze
  const llvm::Loop* before_ =
      nullptr;  ///< values are those of this loop's round before; nothing is assumed of them
  const llvm::Loop* leaving_ = nullptr;       ///< whose exit's condition is looked at
  const llvm::BasicBlock* target_ = nullptr;  ///< the block that the outermost reach() is for
  const llvm::Instruction* near_ = nullptr;   ///< for lines of what has none
  std::set<const llvm::BasicBlock*> reached_;
  std::set<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>> left_over_;  ///< ends of loops
  struct Asked {
    const llvm::PHINode* flag;
    bool truth;
    bool is_kept;
  };
  std::vector<Asked> asked_;  ///< flags of earlier rounds
  std::map<const llvm::Loop*, int> rounds_;
  std::map<std::uint16_t, bool> powers_;  ///< whether derived parameters say "is a power of two"
  /// Found already: what is congruent to a value, and, with and without a sign, what it is.
  struct Found {
    std::map<const llvm::Value*, Maybe> congruent;
    std::map<const llvm::Value*, Maybe> exact[2];
    struct Chosen {
      std::size_t taken;
      const llvm::BasicBlock* where;
    };
    std::map<const void*, Chosen> chosen;
  };
  Found found_;
  std::map<std::pair<const llvm::Value*, bool>, int> unknown_;
  std::vector<std::pair<std::pair<access::Polynomial, access::Polynomial>, int>> quotients_;
};

}  // namespace nuna::compiler
