/* loader PLUGIN: a program that loads another one as a plugin, as interpreters do. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*run)(int, char**) = (int (*)(int, char**))dlsym(plugin, "run");
  return run(count, arguments);
}
