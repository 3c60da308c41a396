import {
  type ApprovalStore,
  EVERY_ROW,
  type Logger,
  type RunRecord,
  type RunStore,
  type StepStore,
  type YieldTurn,
} from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { isBackground } from '../runs/background-run.ts'
import { type Blocker, blockerOf, findBlocker } from '../runs/blocker.ts'
import { renderOutcome, type WaitingFor } from '../runs/run-outcome.ts'
import { waitsOf } from '../runs/waiting-for.ts'
import type { EndRunDeps } from './end-run.ts'
import { answerOf } from './suspend-run.ts'

export interface SettleOutcomeDeps extends EndRunDeps, RetryDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly yieldTurn: YieldTurn
  readonly logger: Logger
}

/**
 * Answers the callers of runs that wait for child runs. Such a run has an outcome once one of its descendants waits for
 * something else than work: it is then suspended until that has happened. A run looks at its descendants after it was
 * suspended, and a descendant at its ancestors, so whichever is suspended last answers the callers.
 */
export interface SettleOutcome {
  /** Looks at a run that this process has suspended, and at its ancestors. Never rejects. */
  onSuspended(run: RunRecord, waitingFor: readonly WaitingFor[] | undefined): Promise<void>
  /** Looks at the ancestors of a run that another process has suspended. Never rejects. */
  onSuspendedElsewhere(runId: string): Promise<void>
  /** Answers the callers and the keys of a suspended run if it has an outcome. @returns whether it has one */
  settle(run: RunRecord): Promise<boolean>
  /** Like `settle`, for a repeated request: the process that would have answered its key may be gone. */
  settleKeys(runId: string): Promise<boolean>
}

export function createSettleOutcome(deps: SettleOutcomeDeps): SettleOutcome {
  const { runs, runWaiters, logger } = deps

  const settleAncestors = async (run: RunRecord, blocker: Blocker) => {
    for (let id = waitingParentOf(run); id !== undefined; ) {
      const parent = await runs.find(id, EVERY_ROW)
      // Code of an ancestor that still executes goes on; the ancestor looks here once it is suspended.
      if (parent?.status !== 'suspended') return
      if (runWaiters.isAwaited(parent.id)) await answer(deps, parent, blocker)
      id = waitingParentOf(parent)
    }
  }

  const safely = async (runId: string, look: () => Promise<void>) => {
    if (!runWaiters.hasWaiters()) return
    try {
      await retryTransient(deps, look)
    } catch (error) {
      logger.error('could not tell the callers of a run that it is suspended', error, { runId })
    }
  }

  const settle = async (run: RunRecord) => answer(deps, run, await findBlocker(deps, run))

  return {
    onSuspended(run, waitingFor) {
      const own = blockerOf(waitingFor)
      const isOfInterest = waitingParentOf(run) !== undefined || (own === 'work' && runWaiters.isAwaited(run.id))
      if (!isOfInterest) return Promise.resolve()
      return safely(run.id, async () => {
        const blocker = own === 'work' ? await findBlocker(deps, run) : own
        if (blocker === 'work') return
        if (own === 'work' && runWaiters.isAwaited(run.id)) await answer(deps, run, blocker)
        await settleAncestors(run, blocker)
      })
    },
    onSuspendedElsewhere: (runId) =>
      safely(runId, async () => {
        const run = await runs.find(runId, EVERY_ROW)
        if (run?.status !== 'suspended' || waitingParentOf(run) === undefined) return
        const blocker = await findBlocker(deps, run)
        if (blocker !== 'work') await settleAncestors(run, blocker)
      }),
    settle,
    async settleKeys(runId) {
      const run = await runs.find(runId, EVERY_ROW)
      return run?.status === 'suspended' && settle(run)
    },
  }
}

const waitingParentOf = (run: RunRecord) => (isBackground(run) ? undefined : run.parentRunId)

/** Stores the answer and resolves the waiters, unless the run has continued meanwhile. */
async function answer(deps: SettleOutcomeDeps, run: RunRecord, blocker: Blocker): Promise<boolean> {
  const { unitOfWork, runWaiters, basePath } = deps
  const waitingFor = await waitsOf(deps, run)
  if (blocker !== 'work') {
    const { id: runId, attempt, execution } = run
    const body = renderOutcome(run, basePath, { waitingFor })
    const { committed } = await unitOfWork.commit([
      { type: 'run.transition', runId, from: ['suspended'], attempt, execution, change: {} },
      ...answerOf(deps, run, { body, blocker }),
    ])
    if (!committed) return false
  }
  runWaiters.resolveFromStorage(run, { waitingFor }, blocker)
  return blocker !== 'work'
}
