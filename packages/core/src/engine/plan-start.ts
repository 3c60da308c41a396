import type { Clock, RunRecord, SessionRecord, Write } from '@perdure/ports'
import type { Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { clientKeyOf } from '../idempotency/record-id.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { acceptedReply, type RunOutcome } from '../runs/run-outcome.ts'
import { admitRun, type PerSubject } from '../runs/subject-limits.ts'
import { type SessionWritesDeps, sessionWrites } from '../sessions/session-writes.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { RunTargets } from '../targets/run-target.ts'
import type { RunSeed } from './forks/run-seed.ts'
import { NO_SLOT, type Slot } from './lanes/admission.ts'
import type { Debounced } from './lanes/debounce.ts'
import { takeLanes } from './lanes/slot-request.ts'
import { runFileWrites } from './run-file-writes.ts'
import type { StartRunRequest } from './start-request.ts'

export interface PlanStartDeps extends SessionWritesDeps {
  /** Limits on the runs that one subject starts. */
  readonly perSubject?: PerSubject | undefined
  readonly targets: RunTargets
  readonly clock: Clock
  readonly basePath: string
}

/** A new run, the slot it has claimed, and the runs it interrupts. */
export interface Claimed {
  readonly run: RunRecord
  readonly slot: Slot
  readonly toInterrupt: readonly string[]
}

interface StartPlan {
  readonly claimed: Claimed
  readonly seed: RunSeed | undefined
  readonly writes: readonly Write[]
}

/**
 * For all other runs, the path of the request names the agent or workflow, so the key can be found without this value.
 */
const startKeyOf = ({ forkOf, triggerId }: RunRecord, key: KeyedRequest | undefined): string | undefined =>
  key === undefined || (forkOf === undefined && triggerId === undefined) ? undefined : clientKeyOf(key.id)

export interface StartDecision extends Decision, Pick<StartPlan, 'claimed' | 'seed'> {
  /** The outcome of a run that was launched with its commit; `undefined` if the run is still to be launched. */
  readonly launched?: () => Promise<RunOutcome> | undefined
}

export function planStart(
  deps: PlanStartDeps,
  { answer, origin, key, waitMs }: StartRunRequest,
  { claimed, seed, writes }: StartPlan,
): StartDecision {
  const { run, slot } = claimed
  const isAwaited = answer === 'outcome'
  const position = slot.position()
  const type = run.status === 'running' ? 'run.started' : 'run.queued'
  const { startedAt } = run
  const lanes = startedAt === undefined ? [] : takeLanes(run.id, slot, startedAt)
  const event = lifecycleEvent(run, type, { at: run.createdAt, ...(position === undefined ? {} : { position }) })
  const events = [...(seed?.events(run) ?? []), ...(run.status === 'suspended' ? [] : [event])]
  return {
    ...{ claimed, seed },
    writes: [
      ...admitRun(run, deps.perSubject),
      ...[insertRun(deps.targets, run, startKeyOf(run, key)), ...lanes, ...writes],
      ...claimed.toInterrupt.map((runId) => ({ type: 'run.interrupt', runId }) as const),
      { type: 'event.append', events },
    ],
    reply: origin?.reply?.(run) ?? (isAwaited ? { status: 202 } : acceptedReply(run, deps.basePath, { position })),
    runId: run.id,
    remember: !isAwaited,
    patientMs: isAwaited ? waitMs : undefined,
    discard: slot.release,
  }
}

export interface CombinedStart {
  readonly combined: Debounced
  readonly session: SessionRecord | undefined
}

/** The request changes a run that still waits for its start time, instead of starting another one. */
export function planCombined(
  deps: PlanStartDeps,
  { answer, waitMs }: StartRunRequest,
  { combined: { run, write }, session }: CombinedStart,
): StartDecision {
  const isAwaited = answer === 'outcome'
  const event = lifecycleEvent(run, 'run.queued', { at: deps.clock.now(), reason: 'debounced' })
  return {
    claimed: { run, slot: NO_SLOT, toInterrupt: [] },
    seed: undefined,
    writes: [
      write,
      ...sessionWrites(deps, run, { session }),
      ...runFileWrites(run),
      { type: 'event.append', events: [event] },
    ],
    reply: isAwaited ? { status: 202 } : acceptedReply(run, deps.basePath),
    runId: run.id,
    remember: !isAwaited,
    patientMs: isAwaited ? waitMs : undefined,
  }
}
