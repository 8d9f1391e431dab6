/*
 * How a Millrace worker commits: two workers, two lanes, three records. At most: two crashes, one late request, one lane
 * that moves between living processes, one transaction that times out. The brokers follow Kafka's transaction protocol 1.
 * README.md says what the model leaves out.
 *
 *   spin -a transactions.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000 -w26
 *
 * Three rules keep the promise, and the search finds a run that breaks it without any one of them:
 *   -DNO_RULE    after a request without an answer the client goes on (ADR 56)
 *   -DNO_FENCE   the group accepts offsets of an old generation (KIP-447)
 *   -DNO_WAIT    a lane starts before the transactions of its former owner have ended
 *
 * One rule is not needed for the promise, and the search finds no run that breaks it:
 *   -DLANES_FIRST  a process restores its lanes before it takes over the transactional id of its predecessor
 */

#define WORKERS 2
#define LANES 2
#define RECORDS 3
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef LATE
#define LATE 1
#endif
#ifndef MOVES
#define MOVES 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1
#endif

#ifdef NO_RULE
#define MUST_REPLACE 0
#else
#define MUST_REPLACE unanswered
#endif
#ifdef NO_FENCE
#define IS_REFUSED(target, memberGeneration, w) 0
#else
#define IS_REFUSED(target, memberGeneration, w) \
  (WHAT(target) == OFFSET && (memberGeneration != generation || owner[LANE(target)] != w))
#endif
#ifdef NO_WAIT
#define HAS_ENDED(condition) true
#else
#define HAS_ENDED(condition) (condition)
#endif

#ifdef LANES_FIRST
#define CAN_WRITE hasClient
#define TAKEN_OVER hasClient = 1
/* Also while a restoration waits for a transaction of the predecessor. */
#define TAKE_OVER_MEANWHILE :: !hasClient -> take_over()
#else
#define CAN_WRITE true
#define TAKEN_OVER skip
#define TAKE_OVER_MEANWHILE
#endif

/* Records 0 and 1 are in lane 0, record 2 is in lane 1. */
#define FIRST(lane) (lane * 2)
#define LENGTH(lane) (2 - lane)

/* What a transaction writes for a lane: an event, an entry of the ledger, an offset of the group. */
#define EVENT 0
#define ENTRY 1
#define OFFSET 2
#define TARGETS 6
#define TARGET(lane, what) (lane * 3 + what)
#define WHAT(target) (target % 3)
#define LANE(target) (target / 3)

mtype = { none, endTransaction, addPartition, produce, initProducer };
mtype = { unused, ongoing, prepareCommit, prepareAbort, committed, aborted };
mtype = { ok, fenced, invalid, refused };

/* ---- The brokers ---- */

mtype coordinator[WORKERS] = unused;  /* the state of the transaction of each transactional id */
byte epoch[WORKERS];                 /* the producer epoch that the coordinator accepts */
byte inside[WORKERS];                /* the targets of the open transaction, a bit for each */
/* Records of open transactions: the number of the record plus one. For an offset, the offset. Per target and worker. */
byte pending[TARGETS * WORKERS];
byte newest[TARGETS * WORKERS];      /* the number of the last transaction that wrote there, to drop a copy */
bit early[LANES * WORKERS];          /* whether the pending entry precedes the record of the lane's next owner */

byte events[RECORDS];                /* the events of each record that a read_committed reader sees */
bit done[RECORDS];                   /* the entries that it sees in the ledger */
byte position[LANES];                /* the committed offsets */

byte owner[LANES];
byte generation;

byte lates = LATE, crashes = CRASHES, moves = MOVES, timeouts = TIMEOUTS;

/* The request that is on its way when its connection has been given up. */
mtype lateKind = none;
byte lateWorker, lateEpoch, lateTarget, lateValue, lateNumber, lateGeneration;
bit lateCommit;

#define IS_PREPARED(w) (coordinator[w] == prepareCommit || coordinator[w] == prepareAbort)

inline apply_end(w, e, isCommit, answer) {
  if
  :: e != epoch[w] -> answer = fenced
  :: else ->
    if
    :: coordinator[w] == ongoing ->
      if :: isCommit -> coordinator[w] = prepareCommit :: else -> coordinator[w] = prepareAbort fi;
      answer = ok
    :: coordinator[w] == committed && isCommit -> answer = ok
    :: coordinator[w] == aborted && !isCommit -> answer = ok
    :: else -> answer = invalid
    fi
  fi
}

inline apply_add(w, e, target, answer) {
  if
  :: e != epoch[w] -> answer = fenced
  :: else ->
    coordinator[w] = ongoing;
    inside[w] = inside[w] | (1 << target);
    answer = ok
  fi
}

/* A leader asks the coordinator before the first record of a transaction (transaction.partition.verification.enable). */
inline apply_produce(w, e, target, value, number, memberGeneration, answer) {
  if
  :: e != epoch[w] -> answer = fenced
  :: else ->
    if
    :: coordinator[w] != ongoing || !(inside[w] & (1 << target)) -> answer = invalid
    :: else ->
      if
      :: IS_REFUSED(target, memberGeneration, w) -> answer = refused
      :: else ->
        if
        :: newest[target * WORKERS + w] == number -> skip   /* a copy */
        :: else ->
          newest[target * WORKERS + w] = number;
          pending[target * WORKERS + w] = value
        fi;
        answer = ok
      fi
    fi
  fi
}

/* Writes the markers of a prepared transaction, one target after the other in any order, and then completes it. */
active proctype Markers() {
  byte w, target;
end:
  do
  :: atomic {
      IS_PREPARED(0) || IS_PREPARED(1) ->
      if :: IS_PREPARED(0) -> w = 0 :: IS_PREPARED(1) -> w = 1 fi;
      if
      :: inside[w] == 0 ->
        if
        :: coordinator[w] == prepareCommit -> coordinator[w] = committed
        :: else -> coordinator[w] = aborted
        fi
      :: else ->
        if
        :: (inside[w] & 1) -> target = 0
        :: (inside[w] & 2) -> target = 1
        :: (inside[w] & 4) -> target = 2
        :: (inside[w] & 8) -> target = 3
        :: (inside[w] & 16) -> target = 4
        :: (inside[w] & 32) -> target = 5
        fi;
        inside[w] = inside[w] & ~(1 << target);
        if
        :: coordinator[w] == prepareCommit && pending[target * WORKERS + w] ->
          if
          :: WHAT(target) == EVENT -> events[pending[target * WORKERS + w] - 1]++
          :: WHAT(target) == ENTRY -> done[pending[target * WORKERS + w] - 1] = 1
          :: else -> position[LANE(target)] = pending[target * WORKERS + w]
          fi
        :: else -> skip
        fi;
        pending[target * WORKERS + w] = 0;
        if :: WHAT(target) == ENTRY -> early[LANE(target) * WORKERS + w] = 0 :: else -> skip fi
      fi;
      w = 0; target = 0
    }
  od
}

/* Delivers the late request. A coordinator that completes a transaction refuses it (CONCURRENT_TRANSACTIONS). */
active proctype Network() {
  mtype answer;
end:
  do
  :: atomic {
      lateKind != none ->
      if
      :: lateKind == produce ->
        apply_produce(lateWorker, lateEpoch, lateTarget, lateValue, lateNumber, lateGeneration, answer)
      :: lateKind != produce && IS_PREPARED(lateWorker) -> skip
      :: lateKind == endTransaction && !IS_PREPARED(lateWorker) -> apply_end(lateWorker, lateEpoch, lateCommit, answer)
      :: lateKind == addPartition && !IS_PREPARED(lateWorker) -> apply_add(lateWorker, lateEpoch, lateTarget, answer)
      :: lateKind == initProducer && !IS_PREPARED(lateWorker) ->
        epoch[lateWorker]++;
        if
        :: coordinator[lateWorker] == ongoing -> coordinator[lateWorker] = prepareAbort
        :: else -> coordinator[lateWorker] = unused
        fi
      fi;
      lateKind = none; lateWorker = 0; lateEpoch = 0; lateTarget = 0; lateValue = 0; lateNumber = 0;
      lateGeneration = 0; lateCommit = 0; answer = 0
    }
  /* A coordinator aborts a transaction that has been open for too long, and fences its producer. */
  :: atomic {
      timeouts > 0 && (coordinator[0] == ongoing || coordinator[1] == ongoing) ->
      timeouts--;
      if
      :: coordinator[0] == ongoing -> epoch[0]++; coordinator[0] = prepareAbort
      :: coordinator[1] == ongoing -> epoch[1]++; coordinator[1] = prepareAbort
      fi
    }
  /* The group moves lane 1, for example because its owner was silent for too long. Its owner may still run. */
  :: atomic { moves > 0 -> moves--; owner[1] = 1 - owner[1]; generation++ }
  od
}

/* ---- A worker ---- */

/* A request whose connection breaks: a copy of it is on its way, and the client repeats it. */
inline may_be_late(kind, target_, value_, isCommit) {
  if
  :: true
  :: lates > 0 ->
    lates--;
    unanswered = 1;
    lateKind = kind; lateWorker = me; lateEpoch = mine; lateTarget = target_; lateValue = value_;
    lateNumber = number; lateGeneration = member; lateCommit = isCommit
  fi
}

inline write(target_, value_) {
  if
  :: answer == ok ->
    atomic {
      !IS_PREPARED(me) ->
      may_be_late(addPartition, target_, 0, 0)
    };
    atomic { !IS_PREPARED(me) -> apply_add(me, mine, target_, answer) }
  :: else
  fi;
  if
  :: answer == ok -> atomic { may_be_late(produce, target_, value_, 0) };
    atomic { apply_produce(me, mine, target_, value_, number, member, answer) }
  :: else
  fi
}

/* A new client takes over the transactional id: what its predecessor has begun is aborted. */
inline take_over() {
  atomic { unanswered = 0; may_be_late(initProducer, 0, 0, 0); unanswered = 0 };
  atomic {
    if
    :: coordinator[me] == ongoing -> epoch[me]++; coordinator[me] = prepareAbort
    :: else
    fi
  };
  atomic {
    !IS_PREPARED(me) ->
    epoch[me]++; mine = epoch[me]; coordinator[me] = unused;
    number = 0;
    for (target : 0 .. TARGETS - 1) { newest[target * WORKERS + me] = 0 }
    target = 0;
    TAKEN_OVER
  }
}

proctype Worker(byte me) {
  byte mine;          /* the epoch of the client */
  byte number;        /* the number of the client's transaction */
  byte member;        /* the generation in which the process is a member of the group */
  byte lanes;         /* the lanes that are restored, a bit for each */
  byte next[LANES];   /* the next record of each lane */
  byte known;         /* the entries of the ledger that the process has read, a bit for each record */
  bit unanswered;     /* whether a request of the client ended without an answer */
  byte lane, target;
  mtype answer;
#ifdef LANES_FIRST
  bit hasClient;      /* whether the process has taken over its transactional id */
#endif

start:
  /* A new process, or one that rejoins. It has nothing in memory. */
  atomic { lanes = 0; known = 0; next[0] = 0; next[1] = 0; lane = 0; answer = ok }
#ifdef LANES_FIRST
  atomic { hasClient = 0; goto idle }
#endif
client:
  take_over();

idle:
  do
  /* kill -9: another process with the same name starts. */
  :: atomic { crashes > 0 -> crashes--; goto start }
  /* A new assignment. Lanes that have moved leave, lanes that are new are restored. */
  :: atomic { member != generation -> goto assignment }
  :: atomic { member == generation && owner[0] == me && !(lanes & 1) -> lane = 0; goto restore }
  :: atomic { member == generation && owner[1] == me && !(lanes & 2) -> lane = 1; goto restore }
#ifdef LANES_FIRST
  :: atomic { !hasClient -> goto client }
#endif
  :: atomic { CAN_WRITE && (lanes & 1) && next[0] < LENGTH(0) -> lane = 0; break }
  :: atomic { CAN_WRITE && (lanes & 2) && next[1] < LENGTH(1) -> lane = 1; break }
  :: atomic { MUST_REPLACE -> goto client }
  /* A client that was fenced learns it when it writes. Nothing is left to write. */
  :: atomic {
      position[0] == LENGTH(0) && position[1] == LENGTH(1) && crashes == 0 && moves == 0 &&
      member == generation && !MUST_REPLACE && CAN_WRITE -> goto over
    }
  od;

  if
  :: atomic {
      known & (1 << (FIRST(lane) + next[lane])) ->
      /* The ledger lists it: only the offset is committed. */
      if
      :: member == generation -> position[lane] = next[lane] + 1; next[lane]++
      :: else -> goto assignment
      fi
    };
    goto idle
  :: atomic { !(known & (1 << (FIRST(lane) + next[lane]))) -> number++; answer = ok }
  fi;

  /* The event and the entry go to different leaders, so either may be written first. */
  if
  :: true ->
    write(TARGET(lane, EVENT), FIRST(lane) + next[lane] + 1);
    write(TARGET(lane, ENTRY), FIRST(lane) + next[lane] + 1)
  :: true ->
    write(TARGET(lane, ENTRY), FIRST(lane) + next[lane] + 1);
    write(TARGET(lane, EVENT), FIRST(lane) + next[lane] + 1)
  fi;
  if :: atomic { crashes > 0 -> crashes--; goto start } :: true fi;
  write(TARGET(lane, OFFSET), next[lane] + 1);
  if
  :: answer == fenced -> goto client   /* nothing is unclear: the next client writes the same again */
  :: answer == ok ->
    atomic { may_be_late(endTransaction, 0, 0, 1) };
    if :: atomic { crashes > 0 -> crashes--; goto start } :: true fi;
    atomic { !IS_PREPARED(me) || coordinator[me] == prepareCommit ->
      if
      :: coordinator[me] == prepareCommit && mine == epoch[me] -> answer = ok
      :: else -> apply_end(me, mine, 1, answer)
      fi
    };
    if
    :: atomic { answer == ok -> next[lane]++ }
    :: else -> goto start   /* only the ledger knows whether it was committed */
    fi
  :: else ->
    atomic { may_be_late(endTransaction, 0, 0, 0) };
    atomic { !IS_PREPARED(me) -> apply_end(me, mine, 0, answer) };
    if :: answer == ok :: else -> goto start fi;
    /* Offsets of an old generation are refused until the process has the new assignment. */
    if :: member != generation -> goto assignment :: else fi
  fi;
  if :: MUST_REPLACE -> goto client :: else fi;
  goto idle;

assignment:
  atomic {
    member = generation;
    if :: owner[0] != me -> lanes = lanes & 2 :: else fi;
    if :: owner[1] != me -> lanes = lanes & 1 :: else fi
  };
  goto idle;

restore:
  /* The stable offset first, then an own record in the ledger, then the ledger up to that record. */
  do
  :: atomic {
      HAS_ENDED(!pending[TARGET(lane, OFFSET) * WORKERS] && !pending[TARGET(lane, OFFSET) * WORKERS + 1]) ->
      next[lane] = position[lane];
      break
    }
  TAKE_OVER_MEANWHILE
  od;
  atomic {
    early[lane * WORKERS] = (pending[TARGET(lane, ENTRY) * WORKERS] != 0);
    early[lane * WORKERS + 1] = (pending[TARGET(lane, ENTRY) * WORKERS + 1] != 0)
  };
  do
  :: atomic {
      HAS_ENDED(!early[lane * WORKERS] && !early[lane * WORKERS + 1]) ->
      known = known | (done[0] | (done[1] << 1) | (done[2] << 2));
      lanes = lanes | (1 << lane);
      break
    }
  TAKE_OVER_MEANWHILE
  od;
  goto idle;

over:
  skip
}

init {
  atomic {
    owner[1] = 1;
    run Worker(0);
    run Worker(1)
  };
  /* When everything is read and nothing is on its way, each record has one event and one entry. */
  (_nr_pr == 3 && lateKind == none && !IS_PREPARED(0) && !IS_PREPARED(1));
  assert(events[0] == 1 && events[1] == 1 && events[2] == 1 && done[0] && done[1] && done[2])
}
