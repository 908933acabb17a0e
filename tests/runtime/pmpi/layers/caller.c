/* A program whose MPI calls are all in a library of its own. */
int run(int count, char** arguments);

int main(int count, char** arguments) {
  return run(count, arguments);
}
