// A clock that stands: with -Dtime=nuna_fixed_time a program that seeds its random numbers with time() becomes
// repeatable, and comparable with its version for the CPU.

#ifdef __cplusplus
extern "C"
#endif
    long
    nuna_fixed_time(long* seconds) {
  if (seconds) *seconds = 7;
  return 7;
}
