import type { RunKind, RunRecord, RunStatus, StepRecord } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { readRecordedCalls } from '../../durable/recorded-calls.ts'
import { eachRun } from '../../runs/each-run.ts'
import { awaitsResume } from '../../runs/stored-suspension.ts'
import { type ReplayCallsDeps, type RunForecast, replayCalls } from './replay-calls.ts'

export type { RunForecast }

export interface CheckedRun {
  readonly runId: string
  readonly kind: RunKind
  readonly targetId: string
  readonly version: string | undefined
  readonly status: RunStatus
  readonly forecast: RunForecast
}

/**
 * Replays the recorded calls of every open run against the registered code, one run after another. Nothing is written
 * and no durable call executes: the replay of a run ends at the first call that is not recorded.
 */
export async function* checkRuns(deps: ReplayCallsDeps): AsyncGenerator<CheckedRun, void, void> {
  for await (const run of eachRun(deps.runs, { statuses: ACTIVE_RUN_STATUSES })) {
    const { id: runId, kind, targetId, version, status } = run
    yield { runId, kind, targetId, version, status, forecast: await forecastOf(deps, run) }
  }
}

async function forecastOf(deps: ReplayCallsDeps, run: RunRecord): Promise<RunForecast> {
  const target = deps.targets.ofRun(run)
  if (target === undefined) {
    return run.version === undefined ? { kind: 'unregistered' } : { kind: 'parks', reason: { version: run.version } }
  }
  // The code of a run that returned `ctx.suspend(…)` continues behind its recorded calls.
  if (awaitsResume(run)) return { kind: 'continues' }
  const recorded = (await readRecordedCalls(deps, run.id)).map(withoutExecution)
  return recorded.length === 0
    ? { kind: 'continues' }
    : (replayCalls(deps, run, { target, recorded, isEnded: false }) as Promise<RunForecast>)
}

/** A step that was executing is not executed by a replay, so it counts as a wait. */
export const withoutExecution = (step: StepRecord): StepRecord =>
  step.status === 'started' ? { ...step, status: 'waiting' } : step
