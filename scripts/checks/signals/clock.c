// A clock that is two hours behind, for one process: LD_PRELOAD. Waits until a time of that clock end as they should.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>

enum { BEHIND = 7200 };

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = REAL(clock_gettime)(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec -= BEHIND;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int result = REAL(gettimeofday)(now, zone);
  now->tv_sec -= BEHIND;
  return result;
}

int timespec_get(struct timespec *now, int base) {
  int result = REAL(timespec_get)(now, base);
  now->tv_sec -= BEHIND;
  return result;
}

time_t time(time_t *now) {
  time_t result = REAL(time)(NULL) - BEHIND;
  if (now) *now = result;
  return result;
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until) {
  struct timespec real = {until->tv_sec + BEHIND, until->tv_nsec};
  return REAL(cnd_timedwait)(condition, mutex, &real);
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  struct timespec now, real = *until;
  REAL(clock_gettime)(CLOCK_REALTIME, &now);
  // A condition can use another clock.
  if (until->tv_sec > now.tv_sec - 2 * BEHIND) real.tv_sec += BEHIND;
  return REAL(pthread_cond_timedwait)(condition, mutex, &real);
}
