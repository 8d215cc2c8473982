#pragma once
/* What device code finds behind a texture or a surface object: cudaTextureObject_t and cudaSurfaceObject_t are addresses of
 * these. Texel (x, y, z) lies at base + x * texel_bytes + y * row_bytes + z * plane_bytes, whatever kind of memory it is:
 *
 *   linear memory      1-D; width alone counts (tex1Dfetch). No filter, no normalised coordinates.
 *   pitched memory     2-D; row_bytes is the user's pitch
 *   arrays             1-D, 2-D, 3-D; layers of a layered array and the faces of a cube map are planes
 *
 * `height` and `depth` are 1 where the array has no such axis, so a loop over all texels needs no special case. The members
 * of enumerations hold the numbers of CUDA's (cudaAddressModeClamp, cudaChannelFormatKindFloat, ...). */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nuna_texture_flag {
  NUNA_TEXTURE_LINEAR = 1,     /* over linear memory: only fetched, outside of [0, width) reads 0 */
  NUNA_TEXTURE_NORMALIZED = 2, /* coordinates run from 0 to 1 */
  NUNA_TEXTURE_AS_FLOAT =
      4, /* integers are read as floats: / 255 (unsigned), / 127 not below -1 (signed), or of 16 bits */
  NUNA_TEXTURE_FILTERED = 8, /* cudaFilterModeLinear */
  NUNA_TEXTURE_LAYERED = 16, /* planes are layers: no filter between them */
  NUNA_TEXTURE_CUBE = 32,    /* planes are faces, six a layer */
  NUNA_TEXTURE_SRGB = 64,
};

struct nuna_texture {
  const unsigned char* base;
  uint64_t width, height, depth; /* in texels */
  uint64_t row_bytes, plane_bytes;
  uint32_t texel_bytes;
  uint32_t channels;        /* 1 to 4 */
  uint32_t channel_bits;    /* of each: 8, 16, 32 */
  uint32_t channel_kind;    /* of enum cudaChannelFormatKind: signed, unsigned, float */
  uint32_t address_mode[3]; /* of enum cudaTextureAddressMode, for x, y, z */
  uint32_t flags;           /* of nuna_texture_flag */
  float border[4];
};

struct nuna_surface {
  unsigned char* base;
  uint64_t width, height, depth; /* in texels; surf2Dread and its kin count x in bytes */
  uint64_t row_bytes, plane_bytes;
  uint32_t texel_bytes;
  uint32_t flags; /* NUNA_TEXTURE_LAYERED, NUNA_TEXTURE_CUBE */
};

#ifdef __cplusplus
}
#endif
