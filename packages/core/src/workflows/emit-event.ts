import { type StepStore, toJsonText } from '@berth/ports'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../reply.ts'
import { checkEventName } from '../steps/event-name.ts'
import type { SettleWait } from '../steps/settle-wait.ts'

export interface EmitEventDeps extends CommitOnceDeps {
  readonly steps: StepStore
  readonly settleWait: SettleWait
}

export interface EmitEventRequest {
  readonly name: string
  readonly payload?: unknown
  /** Only this run hears of it; every run that waits for the name when missing. */
  readonly runId?: string
  readonly key?: KeyedRequest | undefined
}

/** Lets every run go on that waits for the named event now; nobody who waits later hears of it. */
export type EmitEvent = (request: EmitEventRequest) => Promise<Reply>

const BATCH = 200

export function createEmitEvent(deps: EmitEventDeps): EmitEvent {
  const { steps, settleWait } = deps

  return async ({ name, payload, runId, key }) => {
    checkEventName(name)
    const result = toJsonText(payload ?? null)
    const wokenRunIds: string[] = []
    for (;;) {
      const waiting = await steps.waitingForEvent(name, BATCH, runId)
      const settled = await Promise.all(waiting.map((step) => settleWait(step, { result })))
      wokenRunIds.push(...waiting.filter((_, index) => settled[index] === 'settled').map((step) => step.runId))
      if (waiting.length < BATCH) break
    }
    // A wait is settled once whoever emits, so the key is only the memory of the answer.
    const reply: Reply = { status: 202, body: { name, wokenRunIds } }
    const once = await commitOnce(deps, key, async () => ({ writes: [], reply, remember: true }))
    return once.kind === 'replayed' ? once.reply : reply
  }
}
