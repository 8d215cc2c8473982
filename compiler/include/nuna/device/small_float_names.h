/* Names that carry the type: by NUNA_N (half, bfloat16) and NUNA_N2 (half2, bfloat162). No guard: included once for each type. */

#define NUNA_JOIN_(a, b, c) a##b##c
#define NUNA_JOIN(a, b, c) NUNA_JOIN_(a, b, c)

NUNA_SMALL NUNA_T NUNA_JOIN(__float2, NUNA_N, )(float a) { return NUNA_T(a); }
NUNA_SMALL NUNA_T NUNA_JOIN(__float2, NUNA_N, _rn)(float a) { return NUNA_T(a); }
NUNA_SMALL NUNA_T NUNA_JOIN(__double2, NUNA_N, )(double a) { return NUNA_T(a); }
NUNA_SMALL float NUNA_JOIN(__, NUNA_N, 2float)(NUNA_T a) { return (float)a; }
#define NUNA_DIRECTED(mode)                                                                        \
  NUNA_SMALL NUNA_T NUNA_JOIN(__float2, NUNA_N, _##mode)(float a) {                                \
    NUNA_T nearest(a);                                                                             \
    nearest.__x = __nuna_small_nudge(nearest.__x, (float)nearest, a, __nuna_small_##mode, NUNA_HIGH); \
    return nearest;                                                                                \
  }
NUNA_DIRECTED(rz)
NUNA_DIRECTED(ru)
NUNA_DIRECTED(rd)
#undef NUNA_DIRECTED

NUNA_SMALL NUNA_T2 NUNA_JOIN(__, NUNA_N, NUNA_2N2)(NUNA_T a) { return NUNA_T2(a, a); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(make_, NUNA_N2, )(NUNA_T a, NUNA_T b) { return NUNA_T2(a, b); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__float2, NUNA_N2, _rn)(float a) { return NUNA_T2(NUNA_T(a), NUNA_T(a)); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__floats2, NUNA_N2, _rn)(float a, float b) { return NUNA_T2(NUNA_T(a), NUNA_T(b)); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__float22, NUNA_N2, _rn)(float2 a) { return NUNA_T2(NUNA_T(a.x), NUNA_T(a.y)); }
NUNA_SMALL float2 NUNA_JOIN(__, NUNA_N2, 2float2)(NUNA_T2 a) { return make_float2((float)a.x, (float)a.y); }
NUNA_SMALL NUNA_T NUNA_JOIN(__low2, NUNA_N, )(NUNA_T2 a) { return a.x; }
NUNA_SMALL NUNA_T NUNA_JOIN(__high2, NUNA_N, )(NUNA_T2 a) { return a.y; }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__low2, NUNA_N2, )(NUNA_T2 a) { return NUNA_T2(a.x, a.x); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__high2, NUNA_N2, )(NUNA_T2 a) { return NUNA_T2(a.y, a.y); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__lows2, NUNA_N2, )(NUNA_T2 a, NUNA_T2 b) { return NUNA_T2(a.x, b.x); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__highs2, NUNA_N2, )(NUNA_T2 a, NUNA_T2 b) { return NUNA_T2(a.y, b.y); }
NUNA_SMALL NUNA_T2 NUNA_JOIN(__, NUNA_HALVES, NUNA_2N2)(NUNA_T a, NUNA_T b) { return NUNA_T2(a, b); }

#define NUNA_OF_INTEGER(name, Integer) \
  NUNA_SMALL NUNA_T NUNA_JOIN(__##name##2, NUNA_N, _rn)(Integer a) { return NUNA_T((double)a); }
NUNA_OF_INTEGER(int, int)
NUNA_OF_INTEGER(uint, unsigned)
NUNA_OF_INTEGER(short, short)
NUNA_OF_INTEGER(ushort, unsigned short)
NUNA_OF_INTEGER(ll, long long)
NUNA_OF_INTEGER(ull, unsigned long long)
#undef NUNA_OF_INTEGER

NUNA_SMALL short NUNA_JOIN(__, NUNA_N, _as_short)(NUNA_T a) { return (short)a.__x; }
NUNA_SMALL unsigned short NUNA_JOIN(__, NUNA_N, _as_ushort)(NUNA_T a) { return a.__x; }
NUNA_SMALL NUNA_T NUNA_JOIN(__ushort_as_, NUNA_N, )(unsigned short a) {
  NUNA_T t;
  t.__x = a;
  return t;
}
NUNA_SMALL NUNA_T NUNA_JOIN(__short_as_, NUNA_N, )(short a) { return NUNA_JOIN(__ushort_as_, NUNA_N, )((unsigned short)a); }

#ifdef NUNA_CUDA_MODE
#define NUNA_TO_ONE(to, Integer, mode) \
  NUNA_DEVICE Integer NUNA_JOIN(__, NUNA_N, 2##to##_##mode)(NUNA_T a) { return (Integer)__float2##to##_##mode((float)a); }
#define NUNA_TO(to, Integer)    \
  NUNA_TO_ONE(to, Integer, rn)  \
  NUNA_TO_ONE(to, Integer, rz) NUNA_TO_ONE(to, Integer, ru) NUNA_TO_ONE(to, Integer, rd)
NUNA_TO(int, int)
NUNA_TO(uint, unsigned)
NUNA_TO(ll, long long)
NUNA_TO(ull, unsigned long long)
#undef NUNA_TO
#undef NUNA_TO_ONE
#endif

#undef NUNA_JOIN
#undef NUNA_JOIN_
