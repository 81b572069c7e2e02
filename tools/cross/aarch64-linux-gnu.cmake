# Cross-builds for aarch64 with Debian's compiler; what is built runs under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# Of the host we use headers only: CLI11 and nlohmann_json (arch-independent packages) and fmt, header-only.
file(GLOB fmt_DIR /usr/lib/*/cmake/fmt)
