/* Ends what cuda_fp16.h and cuda_bf16.h begin. */

#undef NUNA_T
#undef NUNA_T2
#undef NUNA_RAW
#undef NUNA_RAW2
#undef NUNA_NARROW
#undef NUNA_WIDEN
#undef NUNA_N
#undef NUNA_N2
#undef NUNA_2N2
#undef NUNA_HALVES
#undef NUNA_HIGH
