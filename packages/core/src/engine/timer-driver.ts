import {
  type ApprovalStore,
  type Clock,
  type EpochMs,
  EVERY_ROW,
  type Logger,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type StepStore,
  type Timers,
  toJsonText,
} from '@perdure/ports'
import type { ExpireApproval } from '../approvals/expire-approval.ts'
import { approvalEvents } from '../durable/approval-events.ts'
import type { ResolveWait, WaitResult } from '../durable/resolve-wait.ts'

export interface TimerDriverDeps {
  readonly steps: StepStore
  readonly runs: RunStore
  readonly approvals: ApprovalStore
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly resolveWait: ResolveWait
  readonly expireApproval: ExpireApproval
  /** Ends a run whose budget of time is used up. */
  readonly expire: (run: RunRecord) => Promise<void>
}

/** Settles durable timers when they are due: sleeps, time-outs of waits, expiry of approvals, deadlines of runs. */
export interface TimerDriver {
  /** Settles what fell due while no process ran, then waits for the next. */
  start(): void
  /** Tells of a timer that may be earlier than the next one known. */
  arm(dueAt: number): void
  /** Ends; resolves when what is under way is done. */
  stop(): Promise<void>
}

const BATCH = 100
/** Looks at the wall clock at least this often, so that a step of it is noticed. */
const LONGEST_MS = 30_000
const AFTER_FAILURE_MS = 1_000

export function createTimerDriver(deps: TimerDriverDeps): TimerDriver {
  const { steps, runs, approvals, clock, timers, logger, resolveWait, expireApproval, expire } = deps
  let cancel = () => {}
  let wakeAt = Number.POSITIVE_INFINITY
  let working: Promise<void> | undefined
  let isArmed = false
  let isStopped = false

  const schedule = (at: number) => {
    if (isStopped) return
    cancel()
    wakeAt = at
    cancel = timers.after(Math.min(LONGEST_MS, Math.max(0, at - clock.now())), wake)
  }

  const wake = () => {
    if (working !== undefined) {
      isArmed = true
      return
    }
    working = work().then(schedule, (error: unknown) => {
      logger.error('durable timers not settled', error)
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
    for (;;) {
      const now = clock.now()
      const due = await steps.due(now, BATCH)
      const late = await runs.pastDeadline(now, BATCH)
      const open = await approvals.due(now, BATCH)
      await Promise.all([...due.map(settleDue), ...late.map(expire), ...open.map(expireApproval)])
      if (Math.max(due.length, late.length, open.length) < BATCH) return nextAt()
    }
  }

  const nextAt = async () => {
    const known = await Promise.all([steps.nextDueAt(), runs.nextDeadlineAt(), approvals.nextDueAt()])
    return Math.min(...known.map((at) => at ?? Number.POSITIVE_INFINITY))
  }

  const settleDue = async (step: StepRecord) => {
    await resolveWait(step, await endOf(deps, step))
  }

  return {
    start: wake,
    arm(dueAt) {
      // What is under way may have looked before this timer was there.
      if (working !== undefined) isArmed = true
      else if (dueAt < wakeAt) schedule(dueAt)
    },
    async stop() {
      isStopped = true
      cancel()
      await working
    },
  }
}

async function endOf({ approvals, clock }: TimerDriverDeps, step: StepRecord): Promise<WaitResult> {
  if (step.kind === 'sleep' || step.kind === 'event') return {}
  const approval = step.approvalId === undefined ? undefined : await approvals.find(step.approvalId, EVERY_ROW)
  if (approval === undefined) return {}
  const at: EpochMs = clock.now()
  const resolution = { status: 'expired', reason: 'expired', resolvedAt: at } as const
  return {
    result: toJsonText({ granted: false, reason: 'expired' }),
    writes: [{ type: 'approval.resolve', id: approval.id, resolution }],
    events: () => approvalEvents({ ...approval, ...resolution }, 'approval.expired', at),
  }
}
