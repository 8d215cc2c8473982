#include "driver/spaced_launches.hpp"

#include <gmock/gmock.h>

namespace nuna::compiler {
namespace {

using testing::Eq;
using testing::Optional;

TEST(SpacedLaunches, AreClosedWithoutMovingWhatIsAround) {
  EXPECT_THAT(close_spaced_launches("k<< <g, b>> >(x);"), Optional(Eq("k<<< g, b>>> (x);")));
  EXPECT_THAT(close_spaced_launches("k << < g, b >> > (x);"), Optional(Eq("k <<<  g, b >>>  (x);")));
  EXPECT_THAT(close_spaced_launches("k<<<g, b>> >(x);"), Optional(Eq("k<<<g, b>>> (x);")));
  EXPECT_THAT(close_spaced_launches("t<3><< <g, b>>>(x);"), Optional(Eq("t<3><<< g, b>>>(x);")));
  EXPECT_THAT(close_spaced_launches("k<</* on */<g,\n b>>\n>(x);"),
              Optional(Eq("k<<</* on */g,\n b>>>\n(x);")));
}

TEST(SpacedLaunches, EndBehindShiftsAndTemplates) {
  EXPECT_THAT(close_spaced_launches("k<< <n >> 1, f(a >> b)>> >(x);"),
              Optional(Eq("k<<< n >> 1, f(a >> b)>>> (x);")));
  EXPECT_THAT(close_spaced_launches("k<< <dim3(1), sizeof(A<B<int> >)>> >(x);"),
              Optional(Eq("k<<< dim3(1), sizeof(A<B<int> >)>>> (x);")));
  EXPECT_THAT(close_spaced_launches("#define L(g, b) << <g, b>> >\n"),
              Optional(Eq("#define L(g, b) <<< g, b>>> \n")));
}

TEST(SpacedLaunches, AreNotFoundElsewhere) {
  for (const char* source : {"k<<<g, b>>>(x);", "A<B<C<int> > > a; a << b >> c;", "s << \"<< <1>> >(2)\";",
                             "// k<< <1, 1>> >(x);\n", "operator<< <int>(s, x); operator>> <int>(s, x);",
                             "R\"x(k<< <1, 1>> >())x\";", "a << b < c; d >> e > f;", "k<< <1, 1;",
                             "'\"' << 1'000 < 2;", "", "<<", "\"<< <"}) {
    EXPECT_EQ(std::nullopt, close_spaced_launches(source)) << source;
  }
}

}  // namespace
}  // namespace nuna::compiler
