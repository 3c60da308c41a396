import {
  type EmissionPart,
  EVERY_ROW,
  type IdGenerator,
  type RunStore,
  type StepRecord,
  toJsonText,
  type Visibility,
  type Write,
} from '@perdure/ports'
import { readableTriggers } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { checkEventName } from '../durable/event-name.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { EventFires, FireEventTriggers, NamedEvent } from '../triggers/fire-event-triggers.ts'
import { type DeliverEmissionsDeps, deliverEmissions } from './deliver-emissions.ts'
import { planEventWaits } from './event-waits.ts'

export interface EmitEventDeps extends CommitOnceDeps, DeliverEmissionsDeps {
  readonly ids: IdGenerator
  readonly fireEventTriggers: FireEventTriggers
  /** Waiting calls resolved per commit; default 200. */
  readonly wakesPerCommit?: number | undefined
}

export interface EmitEventRequest {
  readonly name: string
  readonly payload?: unknown
  /**
   * Delivers the event only to this run and fires no triggers. If missing, every run waiting for the name receives it.
   */
  readonly runId?: string
  /** The caller, whose answer lists only what it may see. If missing, the answer lists everything. */
  readonly caller?: { readonly principal: Principal; readonly runs: Visibility } | undefined
  readonly key?: KeyedRequest | undefined
}

/**
 * Resumes, exactly once, every run that is waiting for the named event now; later waiters do not receive the event. The
 * effects of the event, or the durable plan to deliver it, are committed together with the idempotency record: a retry
 * has no further effect.
 *
 * @throws PerdureError `validation-failed` for an invalid event name; `idempotency-conflict`
 */
export type EmitEvent = (request: EmitEventRequest) => Promise<Reply>

const WAKES_PER_COMMIT = 200
/** Maximum waiting runs that an answer considers. The event wakes the others too. */
const MAX_LISTED = 1_000
/**
 * Maximum attempts to resolve all waits in one commit before delivery is deferred. The commit conflicts if a run
 * changes.
 */
const MAX_INLINE_ATTEMPTS = 3

export const NO_FIRES: FireEventTriggers = async () => ({ writes: [], fires: [], onCommitted: () => undefined })

export function createEmitEvent(deps: EmitEventDeps): EmitEvent {
  const { steps, clock, fireEventTriggers, wakesPerCommit = WAKES_PER_COMMIT } = deps

  return async ({ name, payload, runId, caller, key }) => {
    checkEventName(name)
    const text = toJsonText(payload ?? null)
    let tries = 0
    let onCommitted: () => Promise<void> | void = () => undefined
    const result = await commitOnce(deps, key, async () => {
      const event: NamedEvent = { name, payload: text, at: clock.now() }
      const first = await steps.waitingForEvent(name, { limit: wakesPerCommit + 1, runId })
      const fitsOneCommit = first.length <= wakesPerCommit && ++tries <= MAX_INLINE_ATTEMPTS
      const plan = fitsOneCommit ? await wakeNow(deps, event, first) : await planDelivery(deps, event, runId)
      const fires = runId === undefined ? await fireEventTriggers(event) : await NO_FIRES(event)
      onCommitted = () => {
        fires.onCommitted()
        return plan.onCommitted()
      }
      const listed = plan.runIds.slice(0, MAX_LISTED)
      const wokenRunIds = await visibleRunIds(deps, listed, caller?.runs ?? EVERY_ROW)
      return {
        writes: [...plan.writes, ...fires.writes],
        reply: { status: 202, body: { name, wokenRunIds, fireIds: visibleFireIds(fires, caller?.principal) } },
        remember: true,
      }
    })
    if (result.kind === 'replayed') return result.reply
    await onCommitted()
    return result.decision.reply
  }
}

async function visibleRunIds(
  { runs }: { readonly runs: RunStore },
  ids: readonly string[],
  visibility: Visibility,
): Promise<readonly string[]> {
  if (visibility === EVERY_ROW) return ids
  const visible: string[] = []
  for (const id of ids) if ((await runs.find(id, visibility)) !== undefined) visible.push(id)
  return visible
}

function visibleFireIds({ fires }: Pick<EventFires, 'fires'>, principal: Principal | undefined): readonly string[] {
  const access = principal === undefined ? EVERY_ROW : readableTriggers(principal)
  return fires.filter(({ triggerId }) => access === EVERY_ROW || access.ids?.includes(triggerId)).map(({ id }) => id)
}

interface EmitPlan {
  readonly writes: readonly Write[]
  readonly runIds: readonly string[]
  readonly onCommitted: () => Promise<void> | void
}

/** Resolves all waits in the commit that accepts the event. */
async function wakeNow(deps: EmitEventDeps, { payload }: NamedEvent, waits: readonly StepRecord[]): Promise<EmitPlan> {
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
  deps: EmitEventDeps,
  { name, payload, at }: NamedEvent,
  runId: string | undefined,
): Promise<EmitPlan> {
  const { steps, ids, wakesPerCommit: limit = WAKES_PER_COMMIT } = deps
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
  return { writes, runIds: [...runIds], onCommitted: () => deliverEmissions(deps) }
}
