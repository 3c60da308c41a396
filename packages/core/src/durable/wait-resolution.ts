import type { EpochMs, JsonText, NewEvent, RunRecord, StepChange, StepRecord, Write } from '@perdure/ports'
import { unparked } from '../runs/parked.ts'
import { lifecycleEvent, type Via } from '../runs/run-events.ts'
import { awaitsResume } from '../runs/stored-suspension.ts'
import { completionEvents, cutOffEvents } from './step-events.ts'

/** A wait and how it ends. */
export interface ResolvedWait {
  readonly step: StepRecord
  readonly result?: JsonText | undefined
  /** Replaces the completion of the call; set when a person has decided whether a step may execute again. */
  readonly change?: StepChange | ((run: RunRecord) => StepChange) | undefined
  /** The call of a tool that the person decided about. */
  readonly toolCallId?: string | undefined
}

/** The writes that end waits of one run, and the updated run if they resume it. */
export interface WaitResolution {
  readonly writes: readonly Write[]
  /** Append these events after all other writes of the commit. */
  readonly events: readonly NewEvent[]
  readonly resumed: RunRecord | undefined
}

export interface ResolutionDetail {
  readonly at: EpochMs
  /** Resumes a run that returned `ctx.suspend(…)`: the resumption to store in its record. */
  readonly resumption?: JsonText | undefined
  /** The protocol through which the run was resumed. */
  readonly via?: Via | undefined
  /** What the run was resumed with; the event of the resumption shows it. */
  readonly payload?: JsonText | undefined
}

/**
 * Plans how waits of one run end. A run that is suspended at its calls is queued; any other run keeps its status. The
 * writes conflict at `run.transition` when the status has changed, and at `step.change` when one of the waits had
 * already ended.
 */
export function planResolution(
  run: RunRecord,
  waits: readonly ResolvedWait[],
  { at, resumption, via, payload }: ResolutionDetail,
): WaitResolution {
  const [first] = waits
  const goesOn = resumption !== undefined || (first !== undefined && run.status === 'suspended' && !awaitsResume(run))
  const change = goesOn
    ? { status: 'queued' as const, ...unparked(run), ...(resumption === undefined ? {} : { resumption }) }
    : {}
  const resumed = goesOn ? { ...run, ...change } : undefined
  const reason = first === undefined || resumption !== undefined ? 'resume' : `${first.step.kind} ${first.step.name}`
  const ends = waits.map((wait) => ({ ...wait, change: changeOf(run, wait, at) }))
  return {
    resumed,
    writes: [
      // The resumed run is executed as it was read, so it must not have been executed since.
      {
        ...{
          type: 'run.transition',
          runId: run.id,
          from: [run.status],
          attempt: run.attempt,
          execution: run.execution,
        },
        change,
      },
      ...ends.map(
        ({ step, change }): Write => ({
          type: 'step.change',
          runId: run.id,
          seq: step.seq,
          from: 'waiting',
          change,
        }),
      ),
    ],
    events: [
      ...ends.flatMap((end) => eventsOf(run, end, at)),
      ...(resumed === undefined ? [] : [lifecycleEvent(resumed, 'run.resumed', { at, reason, via, payload })]),
    ],
  }
}

interface End extends ResolvedWait {
  readonly change: StepChange
}

function eventsOf(run: RunRecord, { step, change, toolCallId }: End, at: EpochMs): readonly NewEvent[] {
  if (change.status === 'completed') return completionEvents(run, step, at)
  return change.error === undefined ? [] : cutOffEvents(run, { step, error: change.error, toolCallId }, at)
}

function changeOf(run: RunRecord, { change, result }: ResolvedWait, endedAt: EpochMs): StepChange {
  if (change === undefined) return { status: 'completed', result, endedAt }
  return typeof change === 'function' ? change(run) : change
}

/** Closes a wait whose run has ended, so that no timer or event finds it again. */
export const closeAbandonedWait = ({ runId, seq }: Pick<StepRecord, 'runId' | 'seq'>, endedAt: EpochMs): Write => ({
  type: 'step.change',
  runId,
  seq,
  from: 'waiting',
  change: { status: 'failed', error: { code: 'run-not-active', message: 'the run had ended' }, endedAt },
})
