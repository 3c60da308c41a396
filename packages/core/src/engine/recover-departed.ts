import type { Cluster, DepartedProcess, Logger, Meter } from '@perdure/ports'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import { interruptCalls } from '../mcp/use-mcp.ts'
import { type RecoverRunsDeps, recoverRuns } from './recover-runs.ts'

export interface RecoverDepartedDeps extends SupervisedLoopDeps, RecoverRunsDeps {
  readonly cluster: Pick<Cluster, 'departed' | 'dismiss'>
  readonly logger: Logger
  readonly meter: Meter
  /** Applies what any process has left undone: follow-ups of ended runs, events that are delivered in parts. */
  readonly finishLeftovers: () => Promise<void>
  /** Called when runs were queued again. */
  readonly onQueued: () => void
}

const EVERY_MS = 500
/** Then the holder of the duty does not have the code of the remaining runs. */
const ANYBODY_AFTER_MS = 2_000
/** Then no process has the code of the remaining runs. */
const WITHOUT_CODE_AFTER_MS = 60_000

/**
 * Recovers what departed processes have left: their runs execute again or fail, and their keys are answered. Every step
 * may be done by several processes. If a process dies in between, another one continues.
 */
export function createRecoverDeparted(deps: RecoverDepartedDeps): SupervisedLoop {
  const { cluster, targets, logger, meter, isMine = () => true } = deps

  const recover = async ({ executor, departedMs }: DepartedProcess) => {
    const isOurs = isMine('recovery')
    if (!isOurs && departedMs < ANYBODY_AFTER_MS) return
    const { interrupted, requeued, left } = await recoverRuns(deps, {
      isLost: (run) => run.executor === executor,
      mayRecover: (run) => targets.ofRun(run) !== undefined || (isOurs && departedMs >= WITHOUT_CODE_AFTER_MS),
    })
    if (interrupted > 0) meter.count('svc_runs_taken_over_total', { outcome: 'interrupted' }, interrupted)
    if (requeued > 0) meter.count('svc_runs_taken_over_total', { outcome: 'queued' }, requeued)
    if (interrupted + requeued > 0) {
      logger.warn('recovered the runs of a departed process', { executor, interrupted, requeued })
      deps.onQueued()
    }
    if (!isOurs || left > 0) return
    await deps.unitOfWork.commit([interruptCalls(executor)])
    await deps.finishLeftovers()
    await cluster.dismiss(executor)
  }

  return createSupervisedLoop(deps, {
    name: 'recovery',
    async work() {
      for (const departed of await cluster.departed()) await recover(departed)
      return EVERY_MS
    },
  })
}
