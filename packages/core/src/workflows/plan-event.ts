import type { EmissionPart, IdGenerator, StepRecord, Write } from '@perdure/ports'
import type { EventFires, FireEventTriggers, NamedEvent } from '../triggers/fire-event-triggers.ts'
import type { DeliverEmissions, DeliverEmissionsDeps } from './deliver-emissions.ts'
import type { EmissionTurn, EmissionTurns } from './emission-turns.ts'
import { planEventWaits } from './event-waits.ts'

export interface PlanEventDeps extends DeliverEmissionsDeps {
  readonly ids: IdGenerator
  readonly turns: Pick<EmissionTurns, 'isTaken'>
  readonly deliverEmissions: DeliverEmissions
  readonly fireEventTriggers: FireEventTriggers
  /** Waiting calls resolved per commit; default 200. */
  readonly wakesPerCommit?: number | undefined
}

export interface PlanEventOptions {
  /** Delivers the event only to this run and fires no triggers. */
  readonly runId?: string | undefined
  /** How many attempts to commit the plan have met a write conflict. */
  readonly conflicts: number
  /**
   * Taken if the event has many waits. The caller ends it after `onCommitted`, or when it gives up. Without a turn, runs
   * that a concurrent event wakes may be reported too.
   */
  readonly turn?: EmissionTurn | undefined
}

/** The effects of a named event, to be committed together with the decision to emit it. */
export interface EventPlan {
  readonly writes: readonly Write[]
  /** The runs that the event wakes. */
  readonly runIds: readonly string[]
  readonly fires: EventFires['fires']
  /** Must be called after the writes are committed. */
  onCommitted(): Promise<void> | void
}

/** Plans to resume, exactly once, every run that is waiting for the event now, and to fire its triggers. */
export type PlanEvent = (event: NamedEvent, options: PlanEventOptions) => Promise<EventPlan>

const WAKES_PER_COMMIT = 200
/** An event with more waits takes a turn. */
const MAX_WAITS_WITHOUT_TURN = 20
/**
 * Maximum attempts to resolve all waits in one commit before delivery is deferred. The commit conflicts if a run
 * changes.
 */
const MAX_INLINE_ATTEMPTS = 3

export const NO_FIRES: FireEventTriggers = async () => ({ writes: [], fires: [], onCommitted: () => undefined })

export function createPlanEvent(deps: PlanEventDeps): PlanEvent {
  const { steps, turns, deliverEmissions, fireEventTriggers, wakesPerCommit = WAKES_PER_COMMIT } = deps

  const waitsOf = async ({ name }: NamedEvent, { runId, conflicts, turn }: PlanEventOptions) => {
    const read = () => steps.waitingForEvent(name, { limit: wakesPerCommit + 1, runId })
    const isContended = conflicts >= MAX_INLINE_ATTEMPTS || (runId === undefined && turns.isTaken(name))
    const found = isContended ? undefined : await read()
    if (turn === undefined || (found !== undefined && found.length <= MAX_WAITS_WITHOUT_TURN)) return found ?? read()
    await turn.take(name)
    await deliverEmissions()
    return read()
  }

  return async (event, options) => {
    const { runId, conflicts } = options
    const first = await waitsOf(event, options)
    const fitsOneCommit = first.length <= wakesPerCommit && conflicts < MAX_INLINE_ATTEMPTS
    const plan = fitsOneCommit ? await wakeNow(deps, event, first) : await planDelivery(deps, event, runId)
    const fires = runId === undefined ? await fireEventTriggers(event) : await NO_FIRES(event)
    return {
      writes: [...plan.writes, ...fires.writes],
      runIds: plan.runIds,
      fires: fires.fires,
      onCommitted() {
        fires.onCommitted()
        return plan.onCommitted()
      },
    }
  }
}

type EmitPlan = Omit<EventPlan, 'fires'>

/** Resolves all waits in the commit that accepts the event. */
async function wakeNow(deps: PlanEventDeps, { payload }: NamedEvent, waits: readonly StepRecord[]): Promise<EmitPlan> {
  const { writes, woken } = await planEventWaits(deps, waits, payload)
  return {
    writes,
    runIds: woken.map(({ run }) => run.id),
    onCommitted() {
      for (const { run, resolution } of woken) deps.wakeRun(run, resolution)
    },
  }
}

/** Stores the waits to resolve, so that exactly these waits are resolved, even after a crash. */
async function planDelivery(
  deps: PlanEventDeps,
  { name, payload, at }: NamedEvent,
  runId: string | undefined,
): Promise<EmitPlan> {
  const { steps, ids, deliverEmissions, wakesPerCommit: limit = WAKES_PER_COMMIT } = deps
  const writes: Write[] = []
  const runIds = new Set<string>()
  for (let after: StepRecord | undefined; ; ) {
    const found = await steps.waitingForEvent(name, { limit, after, runId })
    const waits = found.map(({ runId, seq }) => ({ runId, seq }))
    if (waits.length > 0) {
      const part: EmissionPart = { id: ids.newId('emission'), eventName: name, payload, waits, createdAt: at }
      writes.push({ type: 'emission.insert', part })
    }
    for (const wait of waits) runIds.add(wait.runId)
    if (found.length < limit) break
    after = found.at(-1)
  }
  return { writes, runIds: [...runIds], onCommitted: deliverEmissions }
}
