#pragma once
/* What nunacc puts into a program, and libnuna_cudart finds there: the kernels of one translation unit (or of one
 * device link), compiled for the CPU.
 *
 * A constructor in the object calls __nuna_register_image before main. Clang's host code registers the same kernels by
 * the address of their host stub (__cudaRegisterFatBinary with a blob, __cudaRegisterFunction with the mangled name); the blob
 * holds the image's id as text, "nuna:<id>". Either may come first.
 *
 * Threads: a kernel's `run` is called from any number of threads at once, each with a call and scratch memory of its own. It
 * runs the blocks of its box one after the other, x fastest, and keeps nothing from one to the next. */

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of an ABI in C
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NUNA_IMAGE_VERSION 4u

/* One call of a kernel's code: a box of blocks of one launch. Axes in the order x, y, z. */
struct nuna_block_call {
  uint32_t grid[3];  /* of the whole launch, in blocks */
  uint32_t block[3]; /* in threads */
  uint32_t first[3]; /* the box: blocks [first, last) */
  uint32_t last[3];
  const void* const* arguments; /* one pointer a parameter, as cudaLaunchKernel takes them */
  unsigned char*
      scratch; /* scratch_bytes() of it, aligned to 64; contents are unspecified before and after */
  uint64_t dynamic_shared_bytes;
  uint32_t*
      block_index; /* three numbers, which the code sets when it begins a block: for who asks where it has stopped */
};

enum nuna_kernel_flag {
  /* The code counts threads of an axis in 31 bits: launches of 2^31 threads along one axis or more are refused. */
  NUNA_KERNEL_31_BIT_INDICES = 1,
  /* The code calls __nuna_audit before each access to memory, and goes where that says. */
  NUNA_KERNEL_AUDITED = 2,
};

struct nuna_kernel {
  const char* name; /* mangled */
  void (*run)(const struct nuna_block_call* call);
  const uint32_t* parameter_bytes; /* the size of each parameter */
  uint32_t parameters;
  uint32_t flags;                 /* of nuna_kernel_flag */
  uint32_t static_shared_bytes;   /* as cudaFuncGetAttributes tells it */
  uint32_t max_threads_per_block; /* of __launch_bounds__, else 1024 */
  uint64_t fixed_scratch_bytes;   /* for a block of any size */
  uint64_t thread_scratch_bytes; /* for each thread of a block, their number rounded up to a multiple of 64 */
  const char* model; /* JSON: what its blocks read and write (runtime/access/kernel_model.hpp), or null */
};

/* Scratch memory that a call needs: fixed + threads rounded up to 64 * thread + dynamic shared memory rounded up to 64. */
static inline uint64_t nuna_scratch_bytes(const struct nuna_kernel* kernel, uint64_t threads,
                                          uint64_t dynamic_shared_bytes) {
  return kernel->fixed_scratch_bytes + ((threads + 63) / 64 * 64) * kernel->thread_scratch_bytes +
         (dynamic_shared_bytes + 63) / 64 * 64;
}

/* A __device__, __constant__ or __managed__ variable. */
struct nuna_variable {
  const char* name; /* mangled */
  void* address;
  uint64_t bytes;
};

struct nuna_image {
  uint32_t version; /* NUNA_IMAGE_VERSION */
  uint32_t kernel_count;
  uint32_t variable_count;
  uint32_t reserved;
  const char*
      id; /* the text behind "nuna:" in the blob; "" for a device link, whose kernels are found by name */
  const char* cpu; /* features that the code needs, as clang names them: "+avx2,+fma" */
  const struct nuna_kernel* kernels;
  const struct nuna_variable* variables;
  const char* ptx; /* the same kernels for GPUs, where the toolkit was there; else null */
  uint64_t ptx_bytes;
};

/* The image outlives the process. */
void __nuna_register_image(const struct nuna_image* image);

/* What device code that is not inlined into its kernel knows of its thread; one of each CPU thread, set by kernels. */
struct nuna_thread_state {
  uint32_t thread[3];
  uint32_t block_index[3];
  uint32_t block[3];
  uint32_t grid[3];
  unsigned char* shared; /* the kernel's static shared memory */
  unsigned char* dynamic_shared;
  uint64_t dynamic_shared_bytes;
};
struct nuna_thread_state* __nuna_thread_state(void);

/* Whether the blocks of the launch that the calling thread runs a block of run at the same time (cudaLaunchCooperativeKernel), and
 * their barrier: each block calls it once. */
int __nuna_grid_is_together(void);
void __nuna_grid_barrier(void);

/* Program counters of threads that do not all go the same way: the number of the region that the thread runs next, with
 * NUNA_WAITS where it runs behind the block's next barrier, with NUNA_MET where it is behind a meeting of a warp already, or
 * NUNA_ENDED. */
#define NUNA_WAITS 0x80000000u
#define NUNA_MET 0x40000000u
#define NUNA_ENDED 0x7fffffffu
#define NUNA_NO_REGION 0xffffffffu

/* The region that some threads of a block run next, those that are furthest behind; NUNA_NO_REGION when all wait or have ended.
 * *all: whether all threads run it, so that none needs to be asked. */
uint32_t __nuna_pick_threads(const uint32_t* counters, uint32_t threads, uint32_t* all);
/* The same for the lanes of a warp, at most 32. Lane l waits for the lanes of masks[l], which meet when all of them that have not
 * ended wait for them, too, at the same place or at others of the same kind (kinds[region]): so a GPU lets lanes in different arms
 * of a branch meet. A mask of 0: for those at the same place. If none can meet, those that are furthest behind go on without the
 * others. *run: the lanes that run; *met: those that they have met, themselves among them. The others of these are marked: NUNA_MET, and
 * masks[l] the lanes they have met. */
uint32_t __nuna_pick_lanes(uint32_t* counters, uint32_t* masks, const uint8_t* kinds, uint32_t lanes,
                           uint32_t* run, uint32_t* met);
/* The block's barrier: those who wait go on. Returns whether there were any. */
uint32_t __nuna_next_round(uint32_t* counters, uint32_t threads);

/* Code of nunacc --audit says so before it touches `bytes` bytes that are not its thread's or block's own, and touches them at the address
 * that is returned. `file` outlives the process; line 0: unknown. */
enum nuna_audit_kind { NUNA_AUDIT_READ = 0, NUNA_AUDIT_WRITE = 1, NUNA_AUDIT_ATOMIC = 2 };
void* __nuna_audit(const void* address, uint64_t bytes, uint32_t kind, const char* file, uint32_t line);

/* The descriptor to which the kernel that the calling thread runs tells its errors. */
int __nuna_error_output(void);

/* Ends the kernel that the calling thread runs, whose frames it jumps over: its launch fails with this cudaError_t (cudaErrorAssert,
 * cudaErrorLaunchFailure, cudaErrorIllegalInstruction), its other blocks are not begun. Returns only where no kernel runs, having
 * stopped the process. */
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void __nuna_end_kernel(int error);

#ifdef __cplusplus
}
#endif
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
