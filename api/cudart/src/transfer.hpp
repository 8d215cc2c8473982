#pragma once
// Copies and fills as the API has them: checked, and done now or in the order of a stream.

#include "copy.hpp"
#include "cuda_runtime_api.h"
#include "stream.hpp"

namespace nuna::cudart {

/// Throws Refused: cudaErrorInvalidValue for null pointers and what leaves an allocation, cudaErrorInvalidPitchValue for rows that
/// overlap, cudaErrorInvalidMemcpyDirection.
void check(const Copy& copy, cudaMemcpyKind kind);
void check(const Fill& fill);
Copy linear_copy(void* to, const void* from, std::size_t bytes);
Copy pitched_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                  std::size_t height);
/// Of arrays and pitched memory. Throws Refused.
Copy copy_of(const cudaMemcpy3DParms& parameters);
Fill fill_of(const cudaMemsetParams& parameters);

/// After all that was submitted; returns when it is done.
void transfer_now(const Copy& copy);
/// In the order of the stream. Memory that CUDA knows nothing of may be used again when this returns, as CUDA promises.
void transfer(const Copy& copy, Stream& stream);

/// What a copy and a fill by a stream come to; `stream` null: now.
cudaError_t copy_call(const Copy& copy, cudaMemcpyKind kind, const cudaStream_t* stream);
cudaError_t fill_call(const Fill& fill, const cudaStream_t* stream);

}  // namespace nuna::cudart
