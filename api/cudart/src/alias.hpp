#pragma once
// Code that is compiled for a default stream of each thread calls functions with other names (_ptsz, and _ptds where the
// stream is not an argument). All streams are one queue here, so they are the same functions.

#define NUNA_ALIAS(name, other) extern decltype(name) other __attribute__((alias(#name)))
#define NUNA_PER_THREAD(name) NUNA_ALIAS(name, name##_ptsz)
#define NUNA_PER_THREAD_DEFAULT(name) NUNA_ALIAS(name, name##_ptds)
