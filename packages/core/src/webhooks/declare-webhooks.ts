import type { Clock, EventLog, UnitOfWork, WebhookRecord, WebhookStore, Write } from '@perdure/ports'
import { CONFLICT, retryConflicts } from '../concurrency/retry-conflicts.ts'

/** A webhook of the configuration. */
export type ConfiguredWebhook = Pick<WebhookRecord, 'id' | 'url' | 'events' | 'targets' | 'owner' | 'secrets'>

export interface DeclareWebhooksDeps {
  readonly webhooks: WebhookStore
  readonly events: Pick<EventLog, 'head'>
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  /** Whether another process may send deliveries of this storage. */
  readonly isStorageShared: boolean
}

/**
 * Stores the webhooks of the configuration, and deletes those that it no longer has. A known webhook continues where it
 * stopped; a new one receives the events from now on. Writes nothing when nothing has changed.
 */
export async function declareWebhooks(
  deps: DeclareWebhooksDeps,
  configured: readonly ConfiguredWebhook[],
): Promise<void> {
  const { webhooks, events, unitOfWork, clock, isStorageShared } = deps
  await retryConflicts(async () => {
    const stored = await webhooks.list()
    if (stored.length === 0 && configured.length === 0) return undefined
    const { position } = await events.head()
    const now = clock.now()
    const writes = configured.flatMap((webhook): Write[] => {
      const known = stored.find(({ id }) => id === webhook.id)
      if (known === undefined || known.source === 'api') {
        const added: WebhookRecord = { ...webhook, source: 'code', position, createdBy: '', version: 1, createdAt: now }
        const replaced: Write[] = known === undefined ? [] : [{ type: 'webhook.delete', id: known.id }]
        return [...replaced, { type: 'webhook.insert', webhook: added }]
      }
      const declared: WebhookRecord = { ...known, targets: undefined, owner: undefined, ...webhook }
      if (JSON.stringify(declared) === JSON.stringify(known)) return []
      return [{ type: 'webhook.replace', webhook: { ...declared, version: known.version + 1 } }]
    })
    const removed = stored.filter(({ id, source }) => source === 'code' && !configured.some((one) => one.id === id))
    for (const { id } of removed) writes.push({ type: 'webhook.delete', id })
    if (!isStorageShared) writes.push({ type: 'delivery.release', now })
    if (writes.length === 0) return undefined
    return (await unitOfWork.commit(writes)).committed ? undefined : CONFLICT
  })
}
