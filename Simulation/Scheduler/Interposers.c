// Functions of the C library and of Swift's runtime that the executable defines itself. The dynamic linker finds them
// first, so that time, randomness and the order of dictionaries follow the seed, and every task prefers the executor of
// the simulation. They rely on the dynamic libraries of Swift 6.3 on Linux; the self-test notices if they do not act.

#define _GNU_SOURCE
#include "CSimulation.h"
#include "Internal.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static bool is_on;
static uint64_t randomness;

static long real_syscall(long call, long a, long b, long c, long d, long e, long f) {
  long result;
#if defined(__x86_64__)
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "=a"(result) : "a"(call), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = call;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  result = x0;
#else
#error "the simulation runs on x86-64 and ARM64"
#endif
  return result;
}

static long checked(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}

// MARK: - Time

uint64_t simulation_real_time(void) {
  struct timespec time;
  real_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&time, 0, 0, 0, 0);
  return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (!is_on) return (int)checked(real_syscall(SYS_clock_gettime, clock, (long)time, 0, 0, 0, 0));
  bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  // A monotonic clock of a machine that has been up for a second: 0 would look unset.
  uint64_t value = is_wall ? simulation_wall_time() : simulation_time() + 1000000000ull;
  time->tv_sec = (time_t)(value / 1000000000ull);
  time->tv_nsec = (long)(value % 1000000000ull);
  return 0;
}

int gettimeofday(struct timeval *value, void *zone) {
  (void)zone;
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  value->tv_sec = time.tv_sec;
  value->tv_usec = time.tv_nsec / 1000;
  return 0;
}

// MARK: - Randomness

static void fill(void *bytes, size_t count) {
  for (uint8_t *byte = bytes; count;) {
    uint64_t word = simulation_next(&randomness);
    size_t part = count < 8 ? count : 8;
    memcpy(byte, &word, part);
    byte += part;
    count -= part;
  }
}

static void random_bytes(void *bytes, size_t count) {
  if (is_on) return fill(bytes, count);
  for (uint8_t *byte = bytes; count;) {
    long got = real_syscall(SYS_getrandom, (long)byte, (long)count, 0, 0, 0, 0);
    if (got <= 0) continue;
    byte += got;
    count -= (size_t)got;
  }
}

void swift_stdlib_random(void *bytes, size_t count) { random_bytes(bytes, count); }
ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
  (void)flags;
  random_bytes(bytes, count);
  return (ssize_t)count;
}
int getentropy(void *bytes, size_t count) {
  random_bytes(bytes, count);
  return 0;
}

long syscall(long call, ...) {
  va_list list;
  va_start(list, call);
  long a[6];
  for (int index = 0; index < 6; index++) a[index] = va_arg(list, long);
  va_end(list);
  if (call == SYS_getrandom && is_on) {
    fill((void *)a[0], (size_t)a[1]);
    return a[1];
  }
  return checked(real_syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]));
}

// MARK: - Swift's runtime

#define SWIFT_CALL __attribute__((swiftcall))

/// The seed of Hasher, which determines the order of dictionaries and sets.
extern struct {
  uint64_t seed0, seed1;
  bool is_deterministic;
} _swift_stdlib_Hashing_parameters;

typedef struct {
  void *task, *context;
} TaskAndContext;

/// A `TaskOptionRecord` of the kind `InitialTaskExecutorUnowned`.
typedef struct {
  size_t kind;
  void *next;
  void *identity, *implementation;
} ExecutorOption;

SWIFT_CALL TaskAndContext swift_task_create(size_t flags, void *options, void *type, void *entry, void *context) {
  static SWIFT_CALL TaskAndContext (*real)(size_t, void *, void *, void *, void *);
  if (!real) real = (SWIFT_CALL TaskAndContext(*)(size_t, void *, void *, void *, void *))dlsym(RTLD_NEXT, "swift_task_create");
  ExecutorOption option = {.kind = 5, .next = options};
  simulation_count_task();
  bool prefers = simulation_preferred(&option.identity, &option.implementation);
  return real(flags, prefers ? (void *)&option : options, type, entry, context);
}

void simulation_interpose(uint64_t seed) {
  randomness = seed ^ 0xD1B54A32D192ED03ull;
  _swift_stdlib_Hashing_parameters.seed0 = simulation_next(&randomness);
  _swift_stdlib_Hashing_parameters.seed1 = simulation_next(&randomness);
  _swift_stdlib_Hashing_parameters.is_deterministic = true;
  is_on = true;
}
