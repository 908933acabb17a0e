# A repository for Spack: spack repo add tools/packaging/spack. docs/sites/install.md lists the
# requirements.
import os

from spack.package import *


class Torc(Package):
    """Compiled collectives of MPI programs on torus networks."""

    # The path of a clone, or its address.
    git = os.environ.get("TORC_GIT", "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 5)))
    license("Apache-2.0")

    version("0.1.0", branch="main")

    variant("mpi", default="mpich", values=("mpich", "openmpi"), multi=False, description="The MPI of programs")

    depends_on("bazel@4.2:4", type="build")
    depends_on("llvm@19", type="build")
    depends_on("pkgconf", type="build")
    depends_on("mpich@4:", when="mpi=mpich")
    depends_on("openmpi@4.1:4", when="mpi=openmpi")
    depends_on("openblas", when="mpi=mpich")

    def setup_build_environment(self, env):
        env.set("TORC_SETUP", "no")
        env.set("TORC_LLVM", self.spec["llvm"].prefix)
        mpi = self.spec[self.spec.variants["mpi"].value]
        if "mpi=openmpi" in self.spec:
            env.set("TORC_OPENMPI", mpi.prefix)
        else:
            env.set("TORC_MPICH", mpi.prefix.include)
            env.set("TORC_OPENBLAS", self.spec["openblas"].prefix.include)
            env.append_path("TORC_LIBRARIES", self.spec["openblas"].prefix.lib)
        env.append_path("TORC_LIBRARIES", mpi.prefix.lib)

    def install(self, spec, prefix):
        bash = which("bash")
        bash("tools/install.sh", "--mpi", spec.variants["mpi"].value, prefix)
