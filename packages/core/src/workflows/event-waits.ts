import { isTerminal } from '@perdure/protocol'
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
import { closeAbandonedWait, planResolution, type WaitResolution } from '../durable/wait-resolution.ts'

export interface EventWaitsDeps {
  readonly runs: RunStore
  readonly clock: Clock
}

/** What ends waits of many runs in one commit. */
export interface EventWaitsPlan {
  readonly writes: readonly Write[]
  readonly woken: readonly { readonly run: RunRecord; readonly settlement: WaitResolution }[]
}

/** Gives the payload of an event to calls that wait for it; what waits for a run that has ended is closed. */
export async function planEventWaits(
  { runs, clock }: EventWaitsDeps,
  waits: readonly StepRecord[],
  payload: JsonText,
): Promise<EventWaitsPlan> {
  const at = clock.now()
  const writes: Write[] = []
  const events: NewEvent[] = []
  const woken: { run: RunRecord; settlement: WaitResolution }[] = []
  for (const [runId, steps] of Map.groupBy(waits, (step) => step.runId)) {
    const run = await runs.find(runId, EVERY_ROW)
    if (run === undefined || isTerminal(run.status)) {
      writes.push(...steps.map((step) => closeAbandonedWait(step, at)))
      continue
    }
    const settlings = steps.map((step) => ({ step, result: payload }))
    const settlement = planResolution(run, settlings, { at })
    woken.push({ run, settlement })
    writes.push(...settlement.writes)
    events.push(...settlement.events)
  }
  return { writes: [...writes, { type: 'event.append', events }], woken }
}
