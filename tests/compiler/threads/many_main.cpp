#include <cstdio>

int one(int kernel);
int other(int kernel);

int main() {
  for (int kernel = 0; kernel < 40; ++kernel) {
    const int threads = 255 * 256 / 2, names = 257 * kernel;
    const int wanted[] = {threads * 3 + names + 3000, threads * 5 + names + 5000};
    const int found[] = {one(kernel), other(kernel)};
    if (found[0] == wanted[0] && found[1] == wanted[1]) continue;
    std::printf("FAILED: kernel %d: %d and %d, not %d and %d\n", kernel, found[0], found[1], wanted[0],
                wanted[1]);
    return 1;
  }
  std::puts("many: 80 kernels in two objects");
}
