import { type JsonText, type StepStore, toJsonText } from '@berth/ports'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../reply.ts'
import { checkEventName } from '../steps/event-name.ts'
import type { SettleWait } from '../steps/settle-wait.ts'
import type { FireEventTriggers } from '../triggers/fire-event-triggers.ts'

export interface EmitEventDeps extends CommitOnceDeps {
  readonly steps: StepStore
  readonly settleWait: SettleWait
  readonly fireEventTriggers: FireEventTriggers
}

export interface EmitEventRequest {
  readonly name: string
  readonly payload?: unknown
  /** Only this run hears of it; every run that waits for the name when missing. */
  readonly runId?: string
  readonly key?: KeyedRequest | undefined
}

/**
 * Lets every run go on that waits for the named event now, and fires the triggers of that name; nobody who waits later
 * hears of it.
 */
export type EmitEvent = (request: EmitEventRequest) => Promise<Reply>

const BATCH = 200

export function createEmitEvent(deps: EmitEventDeps): EmitEvent {
  return async ({ name, payload, runId, key }) => {
    checkEventName(name)
    const woken = await wake(deps, { name, runId, result: toJsonText(payload ?? null) })
    let notify = () => {}
    // A wait is settled once whoever emits; the fires are written with the memory of the answer.
    const once = await commitOnce(deps, key, async () => {
      const { writes, fireIds, committed } = await fires(deps, { name, runId, payload })
      notify = committed
      const reply: Reply = { status: 202, body: { name, wokenRunIds: [...woken], fireIds } }
      return { writes, reply, remember: true }
    })
    if (once.kind === 'replayed') return once.reply
    notify()
    return once.decision.reply
  }
}

/** What is said to one run alone fires nothing. */
const fires = (
  { clock, fireEventTriggers }: EmitEventDeps,
  { name, runId, payload }: Pick<EmitEventRequest, 'name' | 'runId' | 'payload'>,
): ReturnType<FireEventTriggers> =>
  runId === undefined
    ? fireEventTriggers({ name, payload: toJsonText(payload ?? null), at: clock.now() })
    : Promise.resolve({ writes: [], fireIds: [], committed: () => undefined })

interface Emitted {
  readonly name: string
  readonly runId: string | undefined
  readonly result: JsonText
}

/** Settles every wait for the event, one per run: a run that waits for the name again has heard this one already. */
async function wake(
  { steps, settleWait }: EmitEventDeps,
  { name, runId, result }: Emitted,
): Promise<ReadonlySet<string>> {
  const woken = new Set<string>()
  for (;;) {
    const found = await steps.waitingForEvent(name, BATCH, runId)
    const waiting = found.filter((step) => !woken.has(step.runId))
    const settled = await Promise.all(waiting.map((step) => settleWait(step, { result })))
    for (const [index, step] of waiting.entries()) if (settled[index] === 'settled') woken.add(step.runId)
    if (found.length < BATCH || waiting.length === 0) return woken
  }
}
