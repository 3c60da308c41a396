import type { EmissionPart, IdGenerator, StepRecord, Write } from '@perdure/ports'
import type { EventFires, FireEventTriggers, NamedEvent } from '../triggers/fire-event-triggers.ts'
import type { DeliverEmissions, DeliverEmissionsDeps } from './deliver-emissions.ts'
import { createEmissionTurns, type EmissionTurn } from './emission-turns.ts'
import { planEventWaits } from './event-waits.ts'

export interface PlanEventDeps extends DeliverEmissionsDeps {
  readonly ids: IdGenerator
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
  /** Taken if the event has many waits. */
  readonly turn: EmissionTurn
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
export interface PlanEvent {
  (event: NamedEvent, options: PlanEventOptions): Promise<EventPlan>
  /** Runs work that plans events, commits the plans and calls `onCommitted`. The turn ends with it. */
  inTurn<Result>(work: (turn: EmissionTurn) => Promise<Result>): Promise<Result>
}

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
  const { steps, deliverEmissions, fireEventTriggers, wakesPerCommit = WAKES_PER_COMMIT } = deps
  const turns = createEmissionTurns()

  const waitsOf = async ({ name }: NamedEvent, { runId, conflicts, turn }: PlanEventOptions) => {
    const read = () => steps.waitingForEvent(name, { limit: wakesPerCommit + 1, runId })
    const isContended = conflicts >= MAX_INLINE_ATTEMPTS || (runId === undefined && turns.isTaken(name))
    const found = isContended ? undefined : await read()
    if (found !== undefined && found.length <= MAX_WAITS_WITHOUT_TURN) return found
    await turn.take(name)
    await deliverEmissions()
    return read()
  }

  const plan = async (event: NamedEvent, options: PlanEventOptions): Promise<EventPlan> => {
    const { runId, conflicts } = options
    const first = await waitsOf(event, options)
    const fitsOneCommit = first.length <= wakesPerCommit && conflicts < MAX_INLINE_ATTEMPTS
    const wakes = fitsOneCommit ? await wakeNow(deps, event, first) : await planDelivery(deps, event, runId)
    const fires = runId === undefined ? await fireEventTriggers(event) : await NO_FIRES(event)
    return {
      writes: [...wakes.writes, ...fires.writes],
      runIds: wakes.runIds,
      fires: fires.fires,
      onCommitted() {
        fires.onCommitted()
        return wakes.onCommitted()
      },
    }
  }

  return Object.assign(plan, {
    inTurn<Result>(work: (turn: EmissionTurn) => Promise<Result>): Promise<Result> {
      const turn = turns.begin()
      return work(turn).finally(turn.end)
    },
  })
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
