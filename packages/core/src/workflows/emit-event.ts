import { type EmissionPart, type IdGenerator, type StepRecord, toJsonText, type Write } from '@perdure/ports'
import { checkEventName } from '../durable/event-name.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { FireEventTriggers, NamedEvent } from '../triggers/fire-event-triggers.ts'
import { planEventWaits } from './event-waits.ts'
import { type HandOutEmissionsDeps, handOutEmissions } from './hand-out-emissions.ts'

export interface EmitEventDeps extends CommitOnceDeps, HandOutEmissionsDeps {
  readonly ids: IdGenerator
  readonly fireEventTriggers: FireEventTriggers
  /** Calls that are settled in one commit; 200 when missing. */
  readonly wakesPerCommit?: number | undefined
}

export interface EmitEventRequest {
  readonly name: string
  readonly payload?: unknown
  /** Only this run hears of it; every run that waits for the name when missing. It fires no trigger then. */
  readonly runId?: string
  readonly key?: KeyedRequest | undefined
}

/**
 * Lets every run go on that waits for the named event now, each once; nobody who waits later hears of it. What the event
 * does, or that it has to be done, is one commit with the record of the key: a retry never takes effect again.
 *
 * @throws AppError `validation-failed` for a name that no event can have; `idempotency-conflict`
 */
export type EmitEvent = (request: EmitEventRequest) => Promise<Reply>

const WAKES_PER_COMMIT = 200
/** How often a commit of all waits may meet runs that have moved on, before it is only promised. */
const MAX_TRIES = 3

export const NO_FIRES: FireEventTriggers = async () => ({ writes: [], fireIds: [], committed: () => undefined })

export function createEmitEvent(deps: EmitEventDeps): EmitEvent {
  const { steps, clock, fireEventTriggers, wakesPerCommit = WAKES_PER_COMMIT } = deps

  return async ({ name, payload, runId, key }) => {
    checkEventName(name)
    const text = toJsonText(payload ?? null)
    let tries = 0
    let after: () => Promise<void> | void = () => undefined
    const once = await commitOnce(deps, key, async () => {
      const event: NamedEvent = { name, payload: text, at: clock.now() }
      const waits = await steps.waitingForEvent(name, EVERY_ONE, runId)
      const isFew = waits.length <= wakesPerCommit && ++tries <= MAX_TRIES
      const plan = isFew ? await wakeNow(deps, event, waits) : promise(deps, event, waits)
      const fires = runId === undefined ? await fireEventTriggers(event) : await NO_FIRES(event)
      after = () => {
        fires.committed()
        return plan.after()
      }
      return {
        writes: [...plan.writes, ...fires.writes],
        reply: { status: 202, body: { name, wokenRunIds: plan.runIds, fireIds: fires.fireIds } },
        remember: true,
      }
    })
    if (once.kind === 'replayed') return once.reply
    await after()
    return once.decision.reply
  }
}

const EVERY_ONE = Number.MAX_SAFE_INTEGER

interface EmitPlan {
  readonly writes: readonly Write[]
  readonly runIds: readonly string[]
  readonly after: () => Promise<void> | void
}

/** Settles all waits in the commit that accepts the event. */
async function wakeNow(deps: EmitEventDeps, { payload }: NamedEvent, waits: readonly StepRecord[]): Promise<EmitPlan> {
  const { writes, woken } = await planEventWaits(deps, waits, payload)
  return {
    writes,
    runIds: woken.map(({ run }) => run.id),
    after() {
      for (const { run, settlement } of woken) deps.wakeRun(run, settlement)
    },
  }
}

/** Writes down which waits are to be settled: whatever happens, each of them will be, and no later one. */
function promise(deps: EmitEventDeps, { name, payload, at }: NamedEvent, waits: readonly StepRecord[]): EmitPlan {
  const { wakesPerCommit = WAKES_PER_COMMIT } = deps
  const parts: EmissionPart[] = []
  for (let from = 0; from < waits.length; from += wakesPerCommit) {
    const places = waits.slice(from, from + wakesPerCommit).map(({ runId, seq }) => ({ runId, seq }))
    parts.push({ id: deps.ids.newId('emission'), eventName: name, payload, waits: places, createdAt: at })
  }
  return {
    writes: parts.map((part) => ({ type: 'emission.insert', part })),
    runIds: [...new Set(waits.map(({ runId }) => runId))],
    after: () => handOutEmissions(deps),
  }
}
