// The ready jobs, the timers and the simulated processes. See CSimulation.h.

#define _GNU_SOURCE
#include "CSimulation.h"
#include "Internal.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef enum { JOB, CALL, MESSAGE } Kind;

/// Something that can run: a job of Swift's runtime, a call, or a message that arrives.
typedef struct {
  Kind kind;
  uint32_t process;
  uint64_t number;
  void *job;
  void (*call)(void *);
} Item;

/// An item that becomes ready at a time of the world.
typedef struct {
  uint64_t at;
  Item item;
} Timer;

typedef struct {
  Item *items;
  size_t count, capacity;
} Items;

typedef struct {
  bool is_dead, is_frozen;
  uint64_t frozen_since;
  /// The time for which the process's clock stood still.
  uint64_t lag;
  int64_t wall_offset;
  /// What became ready while the process was frozen.
  Items held;
  Timer *late;
  size_t late_count, late_capacity;
} Process;

static Items ready;
static Timer *timers;
static size_t timer_count, timer_capacity;
static Process *processes;
static uint32_t process_count, process_capacity;
static uint32_t current;
static uint64_t now, number, decisions_random, plan_random, priority_seed;
static SimulationPolicy policy;
static SimulationCounts counts;
static pthread_t owner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *trace;
static struct { void *identity, *implementation; } preferred;
static bool has_begun;

static uint64_t scramble(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

uint64_t simulation_next(uint64_t *state) { return scramble(*state += 0x9E3779B97F4A7C15ull); }

static void *grown(void *array, size_t *capacity, size_t size) {
  *capacity = *capacity ? *capacity * 2 : 64;
  void *larger = realloc(array, *capacity * size);
  if (!larger) abort();
  return larger;
}

static void append(Items *items, Item item) {
  if (items->count == items->capacity) items->items = grown(items->items, &items->capacity, sizeof(Item));
  items->items[items->count++] = item;
}

void simulation_record(uint64_t word) {
  for (int shift = 0; shift < 64; shift += 8) counts.hash = (counts.hash ^ ((word >> shift) & 0xff)) * 1099511628211ull;
}

// MARK: - Adding

/// Returns whether the item may be added, and counts it if it comes from another thread.
static bool accept(Item *item) {
  if (!pthread_equal(pthread_self(), owner)) counts.foreign++;
  item->number = ++number;
  return !processes[item->process].is_dead;
}

static void make_ready(Item item) {
  Process *process = &processes[item.process];
  if (process->is_dead) return;
  append(process->is_frozen ? &process->held : &ready, item);
  if (ready.count > counts.most_ready) counts.most_ready = ready.count;
}

static bool is_before(const Timer *a, const Timer *b) {
  return a->at < b->at || (a->at == b->at && a->item.number < b->item.number);
}

static void insert_timer(Timer timer) {
  if (timer_count == timer_capacity) timers = grown(timers, &timer_capacity, sizeof(Timer));
  size_t index = timer_count++;
  for (; index && is_before(&timer, &timers[(index - 1) / 2]); index = (index - 1) / 2) timers[index] = timers[(index - 1) / 2];
  timers[index] = timer;
}

static Timer remove_first_timer(void) {
  Timer first = timers[0], last = timers[--timer_count];
  size_t index = 0;
  for (size_t child; (child = 2 * index + 1) < timer_count; index = child) {
    if (child + 1 < timer_count && is_before(&timers[child + 1], &timers[child])) child++;
    if (!is_before(&timers[child], &last)) break;
    timers[index] = timers[child];
  }
  timers[index] = last;
  return first;
}

static void add(Item item) {
  pthread_mutex_lock(&lock);
  if (accept(&item)) make_ready(item);
  pthread_mutex_unlock(&lock);
}

static void add_later(uint64_t nanoseconds, Item item) {
  pthread_mutex_lock(&lock);
  counts.timers++;
  if (accept(&item)) insert_timer((Timer){now + nanoseconds, item});
  pthread_mutex_unlock(&lock);
}

void simulation_enqueue(void *job) { add((Item){.kind = JOB, .process = current, .job = job}); }
void simulation_enqueue_after(uint64_t nanoseconds, void *job) {
  add_later(nanoseconds, (Item){.kind = JOB, .process = current, .job = job});
}
void simulation_call_after(uint64_t nanoseconds, uint32_t process, void *context, void (*call)(void *)) {
  add_later(nanoseconds, (Item){.kind = CALL, .process = process, .job = context, .call = call});
}
void simulation_deliver_after(uint64_t nanoseconds, uint32_t process, void *context, void (*call)(void *)) {
  add_later(nanoseconds, (Item){.kind = MESSAGE, .process = process, .job = context, .call = call});
}

// MARK: - Running

/// Swift's calling convention, which Clang has for these functions of the runtime.
#define SWIFT_CALL __attribute__((swiftcall))
extern SWIFT_CALL void swift_job_run_on_task_executor(void *job, void *identity, void *implementation);
extern SWIFT_CALL uint64_t swift_task_getJobTaskId(void *job);

static uint64_t priority(const Item *item) {
  uint64_t task = item->kind == JOB ? swift_task_getJobTaskId(item->job) : (uint64_t)item->process << 32;
  return scramble(priority_seed ^ task);
}

static size_t choose(void) {
  size_t count = ready.count;
  if (count == 1) return 0;
  counts.choices++;
  if (policy == SIMULATION_RANDOM) return (size_t)(simulation_next(&decisions_random) % count);
  if (simulation_next(&decisions_random) % 50 == 0) priority_seed = simulation_next(&decisions_random);
  size_t best = 0;
  uint64_t highest = priority(&ready.items[0]);
  for (size_t index = 1; index < count; index++) {
    uint64_t other = priority(&ready.items[index]);
    if (other > highest) { best = index; highest = other; }
  }
  return best;
}

/// Advances the time to the next timer, and makes every item of that time ready.
static bool advance(void) {
  if (!timer_count) return false;
  if (timers[0].at > now) now = timers[0].at;
  simulation_record(now);
  while (timer_count && timers[0].at <= now) {
    Timer timer = remove_first_timer();
    Process *process = &processes[timer.item.process];
    if (process->is_frozen && timer.item.kind != MESSAGE) {
      if (process->late_count == process->late_capacity) process->late = grown(process->late, &process->late_capacity, sizeof(Timer));
      process->late[process->late_count++] = timer;
    } else {
      make_ready(timer.item);
    }
  }
  return true;
}

bool simulation_step(void) {
  pthread_mutex_lock(&lock);
  while (!ready.count) {
    if (!advance()) {
      pthread_mutex_unlock(&lock);
      return false;
    }
  }
  size_t count = ready.count, index = choose();
  Item item = ready.items[index];
  // Keeps the order, so that an index means the same in every run.
  memmove(&ready.items[index], &ready.items[index + 1], (count - index - 1) * sizeof(Item));
  ready.count--;
  pthread_mutex_unlock(&lock);
  counts.jobs++;
  simulation_record(count << 40 ^ index << 20 ^ item.kind);
  simulation_record(item.number);
  if (trace) fprintf(trace, "%llu %zu/%zu #%llu process %u\n", (unsigned long long)now, index, count, (unsigned long long)item.number, item.process);
  current = item.process;
  if (item.kind == JOB) {
    swift_job_run_on_task_executor(item.job, preferred.identity, preferred.implementation);
  } else {
    item.call(item.job);
  }
  current = SIMULATION_WORLD;
  return true;
}

// MARK: - Processes

uint32_t simulation_new_process(void) {
  if (process_count == process_capacity) {
    size_t capacity = process_capacity;
    processes = grown(processes, &capacity, sizeof(Process));
    process_capacity = (uint32_t)capacity;
  }
  processes[process_count] = (Process){0};
  return process_count++;
}

uint32_t simulation_current_process(void) { return current; }

void simulation_as(uint32_t process, void *context, void (*call)(void *)) {
  uint32_t caller = current;
  current = process;
  call(context);
  current = caller;
}

static void drop(Items *items, uint32_t process) {
  size_t kept = 0;
  for (size_t index = 0; index < items->count; index++) {
    if (items->items[index].process != process) items->items[kept++] = items->items[index];
  }
  items->count = kept;
}

void simulation_kill(uint32_t process) {
  processes[process].is_dead = true;
  processes[process].is_frozen = false;
  // The memory of its tasks is never freed, because freeing it would run code of the process.
  drop(&ready, process);
  processes[process].held.count = processes[process].late_count = 0;
}

bool simulation_is_alive(uint32_t process) { return !processes[process].is_dead; }
bool simulation_is_frozen(uint32_t process) { return processes[process].is_frozen; }

void simulation_freeze(uint32_t index) {
  Process *process = &processes[index];
  if (process->is_dead || process->is_frozen) return;
  process->is_frozen = true;
  process->frozen_since = now;
  for (size_t i = 0; i < ready.count; i++) {
    if (ready.items[i].process == index) append(&process->held, ready.items[i]);
  }
  drop(&ready, index);
}

void simulation_thaw(uint32_t index, bool stops_clock) {
  Process *process = &processes[index];
  if (!process->is_frozen) return;
  process->is_frozen = false;
  uint64_t duration = now - process->frozen_since;
  if (stops_clock) {
    process->lag += duration;
    Timer *all = timers;
    size_t count = timer_count;
    timers = NULL;
    timer_count = timer_capacity = 0;
    for (size_t i = 0; i < count; i++) {
      if (all[i].item.process == index && all[i].item.kind != MESSAGE) all[i].at += duration;
      insert_timer(all[i]);
    }
    free(all);
  }
  for (size_t i = 0; i < process->late_count; i++) {
    Timer timer = process->late[i];
    if (stops_clock) {
      timer.at += duration;
      insert_timer(timer);
    } else {
      make_ready(timer.item);
    }
  }
  process->late_count = 0;
  for (size_t i = 0; i < process->held.count; i++) make_ready(process->held.items[i]);
  process->held.count = 0;
}

void simulation_set_wall_offset(uint32_t process, int64_t nanoseconds) { processes[process].wall_offset = nanoseconds; }

// MARK: - Time and counts

/// 2026-01-01.
static const uint64_t wall_start = 1767225600ull * 1000000000ull;

uint64_t simulation_world_time(void) { return now; }
uint64_t simulation_time(void) { return now - (has_begun ? processes[current].lag : 0); }
uint64_t simulation_wall_time(void) {
  return wall_start + simulation_time() + (uint64_t)(has_begun ? processes[current].wall_offset : 0);
}
uint64_t simulation_random(void) { return simulation_next(&plan_random); }
SimulationCounts simulation_counts(void) { return counts; }
void simulation_trace(int file) { trace = fdopen(file, "w"); }
void simulation_count_task(void) { counts.tasks++; }
void simulation_prefer(void *identity, void *implementation) {
  preferred.identity = identity;
  preferred.implementation = implementation;
}
bool simulation_preferred(void **identity, void **implementation) {
  *identity = preferred.identity;
  *implementation = preferred.implementation;
  return preferred.identity != NULL;
}

void simulation_begin(uint64_t seed, SimulationPolicy chosen) {
  owner = pthread_self();
  policy = chosen;
  counts.hash = 14695981039346656037ull;
  decisions_random = scramble(seed ^ 0xA5A5A5A5ull);
  plan_random = scramble(seed ^ 0x5A5A5A5A5Aull);
  priority_seed = scramble(seed ^ 0x3C3C3C3Cull);
  simulation_new_process();
  has_begun = true;
  simulation_interpose(seed);
}

// MARK: - Children and threads

pid_t simulation_fork(int *output, unsigned processor_seconds) {
  int ends[2];
  if (pipe(ends)) return -1;
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {processor_seconds, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &limit);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    return 0;
  }
  close(ends[1]);
  *output = ends[0];
  return child;
}

// LLVM's counters of code that ran. They exist only in a build with `scripts/simulate --coverage`.
__attribute__((weak)) int __llvm_profile_write_file(void);

void simulation_exit(int status) {
  fflush(NULL);
  if (__llvm_profile_write_file) __llvm_profile_write_file();
  _exit(status);
}

typedef struct { void *context; void (*call)(void *); } ThreadCall;

static void *run_thread(void *argument) {
  ThreadCall *call = argument;
  call->call(call->context);
  return NULL;
}

void simulation_call_on_thread(void *context, void (*call)(void *)) {
  ThreadCall argument = {context, call};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_thread, &argument)) abort();
  pthread_join(thread, NULL);
}
