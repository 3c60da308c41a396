import type { EmissionPart, EmissionStore, Logger, StepRecord, StepStore, Timers, UnitOfWork } from '@perdure/ports'
import { createMutex } from '../concurrency/mutex.ts'
import { retryTransient } from '../concurrency/retry-transient.ts'
import type { WakeRun } from '../durable/wake-run.ts'
import { type EventWaitsDeps, planEventWaits } from './event-waits.ts'

export interface DeliverEmissionsDeps extends EventWaitsDeps {
  readonly emissions: EmissionStore
  readonly steps: StepStore
  readonly unitOfWork: UnitOfWork
  readonly timers: Timers
  readonly logger: Logger
  readonly wakeRun: WakeRun
}

const PARTS_PER_READ = 16

/**
 * Delivers accepted events to the remaining waits, oldest first. Runs at startup, and around an event with many waits.
 * Resolves when all events are delivered that were accepted before the call.
 */
export type DeliverEmissions = () => Promise<void>

export function createDeliverEmissions(deps: DeliverEmissionsDeps): DeliverEmissions {
  // Concurrent deliveries would read the same parts, and all but one of their commits would conflict.
  const mutex = createMutex()
  return () => mutex(() => deliverAll(deps))
}

async function deliverAll(deps: DeliverEmissionsDeps): Promise<void> {
  for (;;) {
    const parts = await deps.emissions.list(PARTS_PER_READ)
    for (const part of parts) await deliverPart(deps, part)
    if (parts.length === 0) return
  }
}

/**
 * Resolves the calls in one batch of a stored delivery plan, except those that no longer wait. The same commit removes
 * the batch, so a crash never delivers the event twice. A run that waits for the same name again has a new call, which
 * is not in the batch.
 */
async function deliverPart(deps: DeliverEmissionsDeps, part: EmissionPart): Promise<void> {
  const { unitOfWork, wakeRun } = deps
  for (;;) {
    const plan = await planEventWaits(deps, await stillWaiting(deps, part), part.payload)
    const outcome = await retryTransient(deps, () =>
      unitOfWork.commit([{ type: 'emission.finish', id: part.id }, ...plan.writes]),
    )
    if (outcome.committed) {
      for (const { run, resolution } of plan.woken) wakeRun(run, resolution)
      return
    }
    if (outcome.conflict.type === 'emission.finish') return
  }
}

async function stillWaiting({ steps }: DeliverEmissionsDeps, { waits }: EmissionPart): Promise<readonly StepRecord[]> {
  const found = await Promise.all(waits.map(({ runId, seq }) => steps.find(runId, seq)))
  return found.filter((step) => step?.status === 'waiting') as readonly StepRecord[]
}
