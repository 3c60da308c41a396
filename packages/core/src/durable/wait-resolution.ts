import type { EpochMs, JsonText, NewEvent, RunRecord, StepChange, StepRecord, Write } from '@perdure/ports'
import { lifecycleEvent } from '../runs/run-events.ts'
import { awaitsResume } from '../runs/stored-suspension.ts'
import { completionEvents } from './step-events.ts'

/** A wait, and how it ends. */
export interface ResolvedWait {
  readonly step: StepRecord
  readonly result?: JsonText | undefined
  /** Another change than completion, for a step that a human lets run again or not. */
  readonly change?: StepChange | ((run: RunRecord) => StepChange) | undefined
}

/** What ends waits of one run, and the run as it is then when that lets it go on. */
export interface WaitResolution {
  readonly writes: readonly Write[]
  /** To append after everything else of the commit. */
  readonly events: readonly NewEvent[]
  readonly resumed: RunRecord | undefined
}

export interface ResolutionDetail {
  readonly at: EpochMs
  /** Resumes a run that has suspended itself as a whole. */
  readonly resumption?: JsonText | undefined
}

/**
 * Ends waits of one run: a run that is suspended at its calls is queued, any other one only has to stay what it is.
 * Conflicts at `run.transition` when the run has moved on, at `step.change` when one of the waits was over before.
 */
export function planResolution(
  run: RunRecord,
  settlings: readonly ResolvedWait[],
  { at, resumption }: ResolutionDetail,
): WaitResolution {
  const [first] = settlings
  const goesOn = resumption !== undefined || (first !== undefined && run.status === 'suspended' && !awaitsResume(run))
  const change = goesOn ? { status: 'queued' as const, ...(resumption === undefined ? {} : { resumption }) } : {}
  const resumed = goesOn ? { ...run, ...change } : undefined
  const reason = first === undefined || resumption !== undefined ? 'resume' : `${first.step.kind} ${first.step.name}`
  const ends = settlings.map((settling) => ({ step: settling.step, change: changeOf(run, settling, at) }))
  return {
    resumed,
    writes: [
      { type: 'run.transition', runId: run.id, from: [run.status], attempt: run.attempt, change },
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
      ...ends.flatMap(({ step, change }) => (change.status === 'completed' ? completionEvents(run, step, at) : [])),
      ...(resumed === undefined ? [] : [lifecycleEvent(resumed, 'run.resumed', { at, reason })]),
    ],
  }
}

function changeOf(run: RunRecord, { change, result }: ResolvedWait, endedAt: EpochMs): StepChange {
  if (change === undefined) return { status: 'completed', result, endedAt }
  return typeof change === 'function' ? change(run) : change
}

/** Closes a call whose run has ended, so that no timer and no event finds it again. */
export const closeAbandonedWait = ({ runId, seq }: Pick<StepRecord, 'runId' | 'seq'>, endedAt: EpochMs): Write => ({
  type: 'step.change',
  runId,
  seq,
  from: 'waiting',
  change: { status: 'failed', error: { code: 'run-not-active', message: 'the run had ended' }, endedAt },
})
