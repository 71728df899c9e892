"""Run CUDA C++ on the CPU, one thread at a time: slow, but kernels can be tested without a device.

Threads of a block are fibres that switch at ``__syncthreads()``; blocks run one after another. Of the warp functions
there are a shuffle down for the whole block, and exchange, broadcast and vote, for warps of which no thread has
ended. Neither races nor speed are visible.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

COMPILER = shutil.which("g++")

_BEFORE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>
#include <setjmp.h>
#include <ucontext.h>
#define __global__
#define __device__
#define __shared__ static
#define __restrict__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
using std::max; using std::min;
struct dim3 { unsigned x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static dim3 threadIdx, blockIdx, blockDim, gridDim;
float4 shared[1 << 14];
static float __fsub_rn(float a, float b) { return a - b; }
static float __fadd_rn(float a, float b) { return a + b; }
static float __fmul_rn(float a, float b) { return a * b; }
static float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static double __dadd_rn(double a, double b) { return a + b; }
static double __dmul_rn(double a, double b) { return a * b; }
static float __fsqrt_rn(float a) { return std::sqrt(a); }
static float __fdiv_rn(float a, float b) { return a / b; }
static float __int_as_float(int bits) { float f; memcpy(&f, &bits, 4); return f; }
static int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
static double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static double __ddiv_rn(double a, double b) { return a / b; }
static double __dsqrt_rn(double a) { return std::sqrt(a); }
static double __longlong_as_double(long long bits) { double d; memcpy(&d, &bits, 8); return d; }
static long long __double_as_longlong(double d) { long long i; memcpy(&i, &d, 8); return i; }
template <class T> static T atomicOr(T* at, T value) { T old = *at; *at = old | value; return old; }
template <class T> static T atomicMin(T* at, T value) { T old = *at; *at = std::min(old, value); return old; }
template <class T> static T atomicCAS(T* at, T expected, T value) {
    T old = *at;
    if (old == expected) *at = value;
    return old;
}
template <class T> static T atomicAdd(T* at, T value) { T old = *at; *at = old + value; return old; }

// Fibres are made once and wait for the next block; they switch by jumps, which need no system call.
struct Fibre { jmp_buf at; std::vector<char> stack; bool begun = false, done = false; };
static jmp_buf scheduler;
static std::vector<Fibre> fibres;
static std::function<void()> body;
static unsigned current;
static void __syncthreads() { if (!_setjmp(fibres[current].at)) _longjmp(scheduler, 1); }
static double exchanged[1024];
static double __shfl_down_sync(unsigned, double value, int delta, int width) {  // all threads of the block must call it
    unsigned own = current;
    exchanged[own] = value;
    __syncthreads();
    double other = (int)(own % width) + delta < width ? exchanged[own + delta] : value;
    __syncthreads();
    return other;
}
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static double __shfl_xor_sync(unsigned, double value, int apart) {
    exchanged[current] = value;
    __syncthreads();
    value = exchanged[current ^ apart];
    __syncthreads();
    return value;
}
static double __shfl_sync(unsigned, double value, int lane) {
    exchanged[current] = value;
    __syncthreads();
    value = exchanged[current / 32 * 32 + lane % 32];
    __syncthreads();
    return value;
}
static void __syncwarp() { __syncthreads(); }
static int __popc(unsigned bits) { return __builtin_popcount(bits); }
static unsigned __ballot_sync(unsigned, bool mine) {
    unsigned votes = 0;
    exchanged[current] = mine;
    __syncthreads();
    for (unsigned lane = 0; lane < 32; lane++) votes |= (unsigned)(exchanged[current / 32 * 32 + lane] != 0) << lane;
    __syncthreads();
    return votes;
}
static bool __any_sync(unsigned mask, bool mine) { return __ballot_sync(mask, mine) != 0; }
static void run_fibre() {
    for (;;) {
        body();
        fibres[current].done = true;
        __syncthreads();
    }
}
static void resume(Fibre& fibre) {
    if (_setjmp(scheduler)) return;
    if (fibre.begun) _longjmp(fibre.at, 1);
    fibre.begun = true;
    fibre.stack.resize(1 << 16);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fibre.stack.data();
    context.uc_stack.ss_size = fibre.stack.size();
    context.uc_link = nullptr;
    makecontext(&context, run_fibre, 0);
    setcontext(&context);
}

static void run_block(unsigned n) {
    if (fibres.size() < n) fibres.resize(n);
    for (unsigned t = 0; t < n; t++) fibres[t].done = false;
    for (bool any = true; any;) {
        any = false;
        for (current = 0; current < n; current++) {
            if (fibres[current].done) continue;
            threadIdx = {current % blockDim.x, current / blockDim.x, 0};
            any = true;
            resume(fibres[current]);
        }
    }
}

template <class... P, size_t... I>
static void call(void (*kernel)(P...), void** arguments, std::index_sequence<I...>) {
    body = [=] { kernel(*(P*)arguments[I]...); };
    for (unsigned y = 0; y < gridDim.y; y++)
        for (unsigned x = 0; x < gridDim.x; x++) { blockIdx = {x, y, 0}; run_block(blockDim.x * blockDim.y); }
}
template <class... P> static int count_of(void (*)(P...)) { return sizeof...(P); }
template <class... P> static void launch(void (*kernel)(P...), unsigned gx, unsigned gy, unsigned bx, unsigned by,
                                         void** arguments) {
    gridDim = {gx, gy, 1}; blockDim = {bx, by, 1};
    call(kernel, arguments, std::index_sequence_for<P...>{});
}
"""
_AFTER = """
extern "C" void run_{name}(unsigned gx, unsigned gy, unsigned bx, unsigned by, void** arguments) {{
    launch({name}, gx, gy, bx, by, arguments);
}}
extern "C" int count_{name}() {{ return count_of({name}); }}
"""


class Kernel:
    """A kernel that is called as cupy's are, with numpy arrays and numpy scalars."""

    max_dynamic_shared_size_bytes = 0

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self._run, self._n = getattr(library, f"run_{name}"), getattr(library, f"count_{name}")()

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...], shared_mem: int = 0
    ) -> None:
        assert len(args) == self._n
        assert shared_mem <= 1 << 18
        held = []
        for arg in args:
            if isinstance(arg, np.ndarray):
                assert arg.flags.c_contiguous
                held.append(ctypes.c_void_p(arg.ctypes.data))
            else:
                assert isinstance(arg, np.generic), "kernels take arrays and numpy scalars"
                held.append(ctypes.create_string_buffer(arg.tobytes(), arg.nbytes))
        pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(one) for one in held))
        sizes = [int(size) for size in (*grid, 1)[:2]] + [int(size) for size in (*block, 1)[:2]]
        self._run(*(ctypes.c_uint(size) for size in sizes), pointers)


def emulated(folder: Path) -> Callable[..., tuple[Kernel, ...]]:
    """Return a substitute for `gpuasm.arrays.cuda_functions`; libraries are kept in a folder."""

    def cuda_functions(source: str, *names: str) -> tuple[Kernel, ...]:
        library = folder / f"{hashlib.sha256(repr((source, names)).encode()).hexdigest()[:16]}.so"
        if not library.exists():
            text = library.with_suffix(".cpp")
            text.write_text(
                _BEFORE
                + source.replace("extern __shared__", "extern")
                + "".join(_AFTER.format(name=name) for name in names)
            )
            command = [str(COMPILER), "-O1", "-std=c++17", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
            # A kernel named as a function of the C library must not be taken for it.
            command.append("-Wl,-Bsymbolic")
            subprocess.run([*command, str(text), "-o", str(library)], check=True, capture_output=True, text=True)
        loaded = ctypes.CDLL(str(library))
        return tuple(Kernel(loaded, name) for name in names)

    return cuda_functions
