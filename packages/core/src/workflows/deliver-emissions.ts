import type { EmissionPart, EmissionStore, Logger, StepRecord, StepStore, Timers, UnitOfWork } from '@perdure/ports'
import { retryTransient } from '../concurrency/retry-transient.ts'
import type { WakeRun } from '../durable/wake-run.ts'
import { type EventWaitsDeps, planEventWaits } from './event-waits.ts'

export interface HandOutEmissionsDeps extends EventWaitsDeps {
  readonly emissions: EmissionStore
  readonly steps: StepStore
  readonly unitOfWork: UnitOfWork
  readonly timers: Timers
  readonly logger: Logger
  readonly wakeRun: WakeRun
}

const AT_ONCE = 16

/** Hands out what accepted events have left to hand out, the oldest first; at start, and after one that many wait for. */
export async function handOutEmissions(deps: HandOutEmissionsDeps): Promise<void> {
  for (;;) {
    const parts = await deps.emissions.list(AT_ONCE)
    for (const part of parts) await handOut(deps, part)
    if (parts.length < AT_ONCE) return
  }
}

/**
 * Ends the calls of one part that still wait, and the part with them, in one commit: a crash leaves it whole or gone, so
 * nobody hears of the event twice. A call that waits for the name again is none of the part's.
 */
async function handOut(deps: HandOutEmissionsDeps, part: EmissionPart): Promise<void> {
  const { unitOfWork, wakeRun } = deps
  for (;;) {
    const plan = await planEventWaits(deps, await stillWaiting(deps, part), part.payload)
    const outcome = await retryTransient(deps, () =>
      unitOfWork.commit([{ type: 'emission.finish', id: part.id }, ...plan.writes]),
    )
    if (outcome.committed) {
      for (const { run, settlement } of plan.woken) wakeRun(run, settlement)
      return
    }
    if (outcome.conflict.type === 'emission.finish') return
  }
}

async function stillWaiting({ steps }: HandOutEmissionsDeps, { waits }: EmissionPart): Promise<readonly StepRecord[]> {
  const found = await Promise.all(waits.map(({ runId, seq }) => steps.find(runId, seq)))
  return found.filter((step) => step?.status === 'waiting') as readonly StepRecord[]
}
