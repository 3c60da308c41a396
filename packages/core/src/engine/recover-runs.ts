import { type Clock, EVERY_ROW, type RunRecord, type RunStore } from '@perdure/ports'
import { eachRun } from '../runs/each-run.ts'
import { unparked } from '../runs/parked.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { type EndRunDeps, endRun, type RunEnd } from './end-run.ts'
import type { Runner } from './runner.ts'

export interface RecoverRunsDeps extends EndRunDeps {
  readonly runs: RunStore
  readonly targets: RunTargets
}

/** Without the members, every run that is `running` is recovered. */
export interface RecoveredRuns {
  /** Whether the process that executed the run is gone. */
  readonly isLost?: (run: Pick<RunRecord, 'executor'>) => boolean
  /** Whether this process may recover the run, which it does without its code otherwise. */
  readonly mayRecover?: (run: Pick<RunRecord, 'kind' | 'targetId' | 'version'>) => boolean
}

export interface Recovered {
  readonly interrupted: number // ended, because their external effects are unknown
  readonly requeued: number // will execute again
  readonly left: number // that this process may not recover
}

/**
 * Recovers the runs that lost processes left as `running`. A sole process calls it before the listener binds. A run with
 * `onCrash: 'retry'` is queued as the next attempt unless its recoveries are used up; any other run fails as
 * `interrupted`.
 */
export async function recoverRuns(
  deps: RecoverRunsDeps,
  { isLost = () => true, mayRecover = () => true }: RecoveredRuns = {},
): Promise<Recovered> {
  const { runs, targets } = deps
  let interrupted = 0
  let requeued = 0
  let left = 0
  let work: Promise<boolean>[] = []
  const collect = async () => {
    for (const isRequeued of await Promise.all(work)) isRequeued ? requeued++ : interrupted++
    work = []
  }
  for await (const { id, ...listed } of eachRun(runs, { statuses: ['running'] }, { content: [] })) {
    if (!isLost(listed)) continue
    const run = mayRecover(listed) ? await runs.find(id, EVERY_ROW) : undefined
    if (run === undefined) left++
    else work.push(recover(deps, run, targets.ofRun(run) ?? targets.find(run.kind, run.targetId)))
    if (work.length === BATCH) await collect()
  }
  await collect()
  return { interrupted, requeued, left }
}

const BATCH = 64

/** True when the run will execute again. */
async function recover(deps: RecoverRunsDeps, run: RunRecord, target: RunTarget | undefined): Promise<boolean> {
  if (target?.onCrash !== 'retry') {
    const message = 'the server stopped while the run was executing; its external effects may have happened'
    await fail(deps, run, { finishReason: 'interrupted', error: { code: 'run-interrupted', message } })
    return false
  }
  if (run.attempt - 1 - (run.retries ?? 0) >= target.recoveries) {
    const tries = `the run was attempted ${run.attempt} times and never finished (recoveries: ${target.recoveries})`
    const message = `${tries}; perdure runs retry ${run.id} continues it after its recorded steps`
    await fail(deps, run, { finishReason: 'error', error: { code: 'attempts-exhausted', message } })
    return false
  }
  const next: RunRecord = { ...run, status: 'queued', attempt: run.attempt + 1, ...unparked(run) }
  await deps.unitOfWork.commit([
    {
      type: 'run.transition',
      ...{ runId: run.id, from: ['running'], attempt: run.attempt, execution: run.execution },
      change: { status: 'queued', attempt: next.attempt, ...unparked(run) },
    },
    {
      type: 'event.append',
      events: [lifecycleEvent(next, 'run.queued', { at: deps.clock.now(), reason: 'recovered' })],
    },
  ])
  return true
}

async function fail(deps: RecoverRunsDeps, run: RunRecord, how: Pick<RunEnd, 'finishReason' | 'error'>) {
  await endRun(deps, run, { ...how, status: 'failed', execution: run.execution })
}

/**
 * Queues every run that is stored as queued and not live yet, in order of creation. The timer driver starts those whose
 * `startAt` is later than now.
 */
export async function lineUpRuns({
  runs,
  runner,
  clock,
}: {
  readonly runs: RunStore
  readonly runner: Runner
  readonly clock: Clock
}): Promise<void> {
  const now = clock.now()
  for await (const run of eachRun(runs, { statuses: ['queued'] })) {
    if (!runner.isLive(run.id) && (run.startAt ?? now) <= now) runner.relaunch(run, run.startAt ?? run.createdAt)
  }
}
