import type { WebhookRecord } from '@perdure/ports'

/** So many webhooks of a subject send at the same time, so that its slow endpoints leave connections to others. */
export const LANES_PER_SUBJECT = 8

/** The lanes through which webhooks send, shared between the subjects that created the webhooks. */
export interface WebhookLanes {
  /** Whether the webhook has no lane, and its subject may open another one. The webhooks of the configuration always may. */
  mayOpen(webhook: WebhookRecord): boolean
  isOpen(webhookId: string): boolean
  open(webhook: WebhookRecord, lane: Promise<void>): void
  close(webhookId: string): void
  /** Sorts one webhook of each subject after the other; those of one subject by when they last had a lane. */
  inFairOrder(webhooks: readonly WebhookRecord[]): readonly WebhookRecord[]
  /** Resolves once all lanes are closed. */
  settled(): Promise<unknown>
}

export function createWebhookLanes(): WebhookLanes {
  const lanes = new Map<string, { readonly subject: string; readonly done: Promise<void> }>()
  const openedAs = new Map<string, number>()
  let opened = 0
  const lanesOf = (subject: string) => [...lanes.values()].filter((lane) => lane.subject === subject).length

  return {
    mayOpen: ({ id, source, createdBy }) =>
      !lanes.has(id) && (source === 'code' || lanesOf(createdBy) < LANES_PER_SUBJECT),
    isOpen: (webhookId) => lanes.has(webhookId),
    open({ id, source, createdBy }, done) {
      openedAs.set(id, ++opened)
      lanes.set(id, { subject: source === 'code' ? '' : createdBy, done })
    },
    close: (webhookId) => void lanes.delete(webhookId),
    inFairOrder(webhooks) {
      const known = new Set(webhooks.map(({ id }) => id))
      for (const id of openedAs.keys()) if (!known.has(id)) openedAs.delete(id)
      const oldestFirst = [...webhooks].sort((a, b) => (openedAs.get(a.id) ?? 0) - (openedAs.get(b.id) ?? 0))
      const ranks = new Map<string, number>()
      const ranked = oldestFirst.map((webhook) => {
        const rank = ranks.get(webhook.createdBy) ?? 0
        ranks.set(webhook.createdBy, rank + 1)
        return { webhook, rank }
      })
      return ranked.sort((a, b) => a.rank - b.rank).map(({ webhook }) => webhook)
    },
    settled: () => Promise.all([...lanes.values()].map(({ done }) => done)),
  }
}
