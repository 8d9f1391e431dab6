// The scheduler of a simulation: ready jobs, timers, virtual time and the simulated processes, all controlled by a seed.
//
// Everything runs on one thread. A job that comes from another thread is counted as foreign, and the run fails.

#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// The process that stands for the brokers, the network and the test itself. It is never killed or frozen.
#define SIMULATION_WORLD 0

typedef enum {
  /// Any ready job, with the same probability.
  SIMULATION_RANDOM = 0,
  /// The ready job of the task with the highest priority. Priorities are random, and change now and then.
  SIMULATION_PRIORITIES = 1,
} SimulationPolicy;

/// Takes over the process: from now on time, randomness, the hashing of dictionaries and the order of jobs follow `seed`.
void simulation_begin(uint64_t seed, SimulationPolicy policy);

/// Sets the task executor that every new task prefers, so that each hop to an actor is a decision of the scheduler.
void simulation_prefer(void *identity, void *implementation);

/// Writes every decision of the scheduler to a file descriptor.
void simulation_trace(int file);

// Jobs. Each belongs to the process of the job that enqueues it.
void simulation_enqueue(void *job);
void simulation_enqueue_after(uint64_t nanoseconds, void *job);

/// Calls a function of a process later. The call follows the process's clock: it waits while that stands still.
void simulation_call_after(uint64_t nanoseconds, uint32_t process, void *context, void (*call)(void *));
/// Calls a function of a process later, by the clock of the world, as when a message arrives.
void simulation_deliver_after(uint64_t nanoseconds, uint32_t process, void *context, void (*call)(void *));

/// Runs one ready job, after advancing the time if none is ready.
/// - Returns: False if nothing is left to run.
bool simulation_step(void);

// Processes.
uint32_t simulation_new_process(void);
uint32_t simulation_current_process(void);
/// Runs `call` as a part of another process: what it enqueues belongs to that process.
void simulation_as(uint32_t process, void *context, void (*call)(void *));
/// No job, timer or message of the process runs any more.
void simulation_kill(uint32_t process);
bool simulation_is_alive(uint32_t process);
bool simulation_is_frozen(uint32_t process);
/// Holds back everything of a process until it thaws.
void simulation_freeze(uint32_t process);
/// - stops_clock: Whether the process's clock stood still meanwhile, as that of a suspended virtual machine.
void simulation_thaw(uint32_t process, bool stops_clock);
/// Sets the difference of a process's wall clock from the world's.
void simulation_set_wall_offset(uint32_t process, int64_t nanoseconds);

// Time, in nanoseconds since the simulation began.
uint64_t simulation_world_time(void);
/// The monotonic clock of the current process.
uint64_t simulation_time(void);
/// The wall clock of the current process, since 1970.
uint64_t simulation_wall_time(void);
/// The time of the machine that runs the simulation.
uint64_t simulation_real_time(void);

/// The next number of the seed's sequence for the plan and the network.
uint64_t simulation_random(void);
/// Mixes a number into the hash of the run.
void simulation_record(uint64_t word);

typedef struct {
  uint64_t hash, jobs, choices, foreign, timers, tasks, most_ready;
} SimulationCounts;
SimulationCounts simulation_counts(void);

// Starting one process of the machine for each seed. Swift does not offer fork.

/// Starts a child whose output goes to `*output`, and which SIGXCPU ends after so many seconds of processor time.
/// - Returns: 0 in the child, the child's process id in the parent, or -1.
pid_t simulation_fork(int *output, unsigned processor_seconds);
/// Ends the child without running any cleanup.
void simulation_exit(int status) __attribute__((noreturn));

/// Calls a function on a thread of its own, for the self-test: a job that it enqueues has escaped.
void simulation_call_on_thread(void *context, void (*call)(void *));
