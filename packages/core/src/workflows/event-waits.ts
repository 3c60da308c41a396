import {
  type Clock,
  EVERY_ROW,
  type JsonText,
  type NewEvent,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type Write,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { closeAbandonedWait, planResolution, type WaitResolution } from '../durable/wait-resolution.ts'

export interface EventWaitsDeps {
  readonly runs: RunStore
  readonly clock: Clock
}

/** Writes that resolve waits of many runs in one commit. */
export interface EventWaitsPlan {
  readonly writes: readonly Write[]
  readonly woken: readonly { readonly run: RunRecord; readonly resolution: WaitResolution }[]
}

/** Resolves waiting calls with the payload of an event. Closes waits of runs that have ended. */
export async function planEventWaits(
  { runs, clock }: EventWaitsDeps,
  waits: readonly StepRecord[],
  payload: JsonText,
): Promise<EventWaitsPlan> {
  const at = clock.now()
  const writes: Write[] = []
  const events: NewEvent[] = []
  const woken: { run: RunRecord; resolution: WaitResolution }[] = []
  for (const [runId, steps] of Map.groupBy(waits, (step) => step.runId)) {
    const run = await runs.find(runId, EVERY_ROW)
    if (run === undefined || isTerminal(run.status)) {
      writes.push(...steps.map((step) => closeAbandonedWait(step, at)))
      continue
    }
    const resolvedWaits = steps.map((step) => ({ step, result: payload }))
    const resolution = planResolution(run, resolvedWaits, { at })
    woken.push({ run, resolution })
    writes.push(...resolution.writes)
    events.push(...resolution.events)
  }
  return { writes: [...writes, { type: 'event.append', events }], woken }
}
