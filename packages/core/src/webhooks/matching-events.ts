import { EVERY_ROW, type RunStore, type StoredEvent, type TriggerStore, type WebhookRecord } from '@perdure/ports'
import { matchesEvent, parseSubject } from '@perdure/protocol'
import { createBoundedMap } from '../collections/bounded-map.ts'

/** What an event is about, as far as it decides who may receive the event. */
interface EventOrigin {
  readonly owner: string
  readonly targetId: string
}

export interface MatchingEventsDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly triggers: Pick<TriggerStore, 'find'>
}

/** Decides which webhooks receive an event. */
export type WebhooksFor = (event: StoredEvent, webhooks: readonly WebhookRecord[]) => Promise<readonly WebhookRecord[]>

const MAX_REMEMBERED = 2_000

export function createWebhooksFor({ runs, triggers }: MatchingEventsDeps): WebhooksFor {
  const origins = createBoundedMap<string, EventOrigin>(MAX_REMEMBERED)

  const ofRun = async (runId: string): Promise<EventOrigin | undefined> => {
    const known = origins.get(runId)
    if (known !== undefined) return known
    const run = await runs.find(runId, EVERY_ROW)
    if (run === undefined) return undefined
    const origin = { owner: run.owner, targetId: run.targetId }
    origins.set(runId, origin)
    return origin
  }

  const ofTrigger = async (topic: string): Promise<EventOrigin | undefined> => {
    const subject = parseSubject(topic)
    const trigger = subject?.name === 'trigger' ? await triggers.find(subject.params.triggerId ?? '') : undefined
    return trigger === undefined ? undefined : { owner: trigger.owner, targetId: trigger.target.id }
  }

  return async ({ type, runId, topic, position }, webhooks) => {
    // The copies for the logs of ancestors have no topic.
    if (topic === undefined) return []
    const interested = webhooks.filter(
      (webhook) => webhook.position < position && webhook.events.some((pattern) => matchesEvent(pattern, type)),
    )
    if (interested.length === 0) return []
    const origin = runId === undefined ? await ofTrigger(topic) : await ofRun(runId)
    if (origin === undefined) return []
    return interested.filter(
      ({ owner, targets }) =>
        (owner === undefined || owner === origin.owner) && (targets === undefined || targets.includes(origin.targetId)),
    )
  }
}
