// Rodinia's backprop ends without a word. Linked with -Wl,--wrap=bpnn_free, this prints what it computed first.

#include <stdio.h>

#include "backprop.h"

void __wrap_bpnn_free(BPNN* net) {
  printf("hidden units:");
  for (int i = 1; i <= net->hidden_n; ++i) printf(" %.9f", net->hidden_units[i]);
  printf("\nhidden weights:");
  for (int i = 0; i <= net->hidden_n; ++i) printf(" %.9f", net->hidden_weights[i][1]);
  printf("\noutput: %.9f\n", net->output_units[1]);
}
