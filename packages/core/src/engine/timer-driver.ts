import {
  type ApprovalStore,
  type Clock,
  type Duty,
  type EpochMs,
  EVERY_ROW,
  type Logger,
  type RunRecord,
  type RunStore,
  type RunTimers,
  type StartRange,
  type StepRecord,
  type StepStore,
  type Timers,
  toJsonText,
} from '@perdure/ports'
import type { ExpireApproval } from '../approvals/expire-approval.ts'
import type { RemindApproval } from '../approvals/remind-approval.ts'
import { approvalEvents } from '../durable/approvals/approval-events.ts'
import { clientToolEnd, TIMED_OUT } from '../durable/client-tool-result.ts'
import type { ResolveWait, WaitResult } from '../durable/resolve-wait.ts'
import { activeAncestors } from '../runs/active-ancestors.ts'

export interface TimerDriverDeps {
  readonly steps: StepStore
  readonly runs: Pick<RunStore, 'find'>
  readonly runTimers: RunTimers
  readonly approvals: ApprovalStore
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  /** Whether this process holds a duty; if missing, it holds all. */
  readonly isMine?: ((duty: Duty) => boolean) | undefined
  /** The name of this process; other processes may store timers if it has one. */
  readonly executor?: string | undefined
  readonly resolveWait: ResolveWait
  readonly expireApproval: ExpireApproval
  readonly remindApproval: RemindApproval
  /** Executes a queued run that is due; does nothing for an attempt that this process already executes. */
  readonly launch: (run: RunRecord) => void
  /** Ends a run whose time budget is used up. */
  readonly expire: (run: RunRecord) => Promise<void>
}

/**
 * Fires durable timers when they are due: sleeps, timeouts of waits, expiry and reminders of approvals, deadlines and start times of
 * runs.
 */
export interface TimerDriver {
  /** Fires the timers that became due while no server ran, then waits for the next timer. */
  start(): void
  /** Registers a due time that may be earlier than the next known due time. */
  arm(dueAt: number): void
  /** Registers the start time of a run that was queued with it just now. */
  armStart(startAt: EpochMs): void
  /** Stops firing timers. Resolves once the timers that are being fired are done. */
  stop(): Promise<void>
}

const BATCH = 100
/** The driver reads the wall clock at least this often, so that it notices when the clock is changed. */
const LONGEST_MS = 30_000
const AFTER_FAILURE_MS = 1_000
/** A process that does not hold the duty, or that shares the storage with others, reads the timers again after this time. */
const ASK_AGAIN_MS = 1_000

export function createTimerDriver(deps: TimerDriverDeps): TimerDriver {
  const { steps, runTimers, approvals, clock, timers, logger, resolveWait, expireApproval, remindApproval, expire } =
    deps
  const longestMs = deps.executor === undefined ? LONGEST_MS : ASK_AGAIN_MS
  let cancel = () => {}
  let wakeAt = Number.POSITIVE_INFINITY
  let working: Promise<void> | undefined
  let isArmed = false
  /** Every run that starts up to here is launched. When the server starts, it launches those that are already due. */
  let startedThrough = clock.now()
  let isStopped = false

  const schedule = (at: number) => {
    if (isStopped) return
    cancel()
    wakeAt = at
    cancel = timers.after(Math.min(longestMs, Math.max(0, at - clock.now())), wake)
  }

  const wake = () => {
    if (working !== undefined) {
      isArmed = true
      return
    }
    working = work().then(schedule, (error: unknown) => {
      logger.error('could not fire durable timers', error)
      schedule(clock.now() + AFTER_FAILURE_MS)
    })
    working.finally(() => {
      working = undefined
      if (isArmed) {
        isArmed = false
        wake()
      }
    })
  }

  const work = async (): Promise<number> => {
    const startedAt = clock.now()
    if (deps.isMine?.('timers') === false) return startedAt + ASK_AGAIN_MS
    await startRuns(startedAt)
    for (;;) {
      const now = clock.now()
      const due = await steps.due(now, BATCH)
      const late = await runTimers.pastDeadline(now, BATCH)
      const open = await approvals.due(now, BATCH)
      // An approval that expires now needs no reminder.
      await Promise.all([...due.map(fireDue), ...late.map(expire), ...open.map(expireApproval)])
      const reminders = await approvals.toRemind(now, BATCH)
      await Promise.all(reminders.map(remindApproval))
      if (Math.max(due.length, late.length, open.length, reminders.length) < BATCH) return nextAt(startedAt)
    }
  }

  const startRuns = async (now: EpochMs) => {
    const from = Math.min(startedThrough, now) as EpochMs
    startedThrough = now // `armStart` can lower it during the reads
    let through = from
    try {
      through = await launchDue(deps, { after: from, through: now })
    } finally {
      startedThrough = Math.min(startedThrough, through) as EpochMs
    }
  }

  /** @param startedAt runs that start up to here are launched; a later start time may have passed during the reads */
  const nextAt = async (startedAt: EpochMs) => {
    const starts = runTimers.nextStartAt(startedAt)
    const known = await Promise.all([
      ...[steps.nextDueAt(), runTimers.nextDeadlineAt(), starts],
      ...[approvals.nextDueAt(), approvals.nextReminderAt()],
    ])
    return Math.min(...known.map((at) => at ?? Number.POSITIVE_INFINITY))
  }

  const fireDue = async (step: StepRecord) => {
    await resolveWait(step, await endOf(deps, step))
  }

  const arm = (dueAt: number) => {
    // The pass in progress may have read the timers before this timer was stored.
    if (working !== undefined) isArmed = true
    else if (dueAt < wakeAt) schedule(dueAt)
  }

  return {
    start: wake,
    arm,
    armStart(startAt) {
      startedThrough = Math.min(startedThrough, startAt - 1) as EpochMs
      arm(startAt)
    },
    async stop() {
      isStopped = true
      cancel()
      await working
    },
  }
}

/**
 * Launches the runs that are due. Runs with the same start time may be on several pages, so the last start time is read
 * again, now and in the next pass.
 *
 * @returns the time up to which every run is launched
 */
async function launchDue({ runTimers, launch }: TimerDriverDeps, { after, through }: StartRange): Promise<EpochMs> {
  let from = after
  for (let limit = BATCH; ; ) {
    const due = await runTimers.starting({ after: from, through }, limit)
    const last = due.at(-1)?.startAt
    if (last === undefined) return from === after ? through : from
    for (const run of due) launch(run)
    if (last - 1 > from) from = (last - 1) as EpochMs
    else if (due.length === limit) limit *= 2
    else return from
  }
}

async function endOf({ approvals, runs, clock }: TimerDriverDeps, step: StepRecord): Promise<WaitResult> {
  if (step.kind === 'sleep' || step.kind === 'event') return {}
  if (step.kind === 'client-tool') return clientToolEnd(step, { outcome: TIMED_OUT, at: clock.now() })
  const approval = step.approvalId === undefined ? undefined : await approvals.find(step.approvalId, EVERY_ROW)
  if (approval === undefined) return {}
  const at: EpochMs = clock.now()
  const ancestors = await activeAncestors(runs, await runs.find(approval.runId, EVERY_ROW))
  const resolution = { status: 'expired', reason: 'expired', resolvedAt: at } as const
  return {
    result: toJsonText({ approved: false, reason: 'expired' }),
    writes: [{ type: 'approval.resolve', id: approval.id, resolution }],
    events: () => approvalEvents({ ...approval, ...resolution }, 'approval.expired', { at, ancestors }),
  }
}
