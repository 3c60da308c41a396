import type { WebhookLimits, WebhookRecord, WebhookStore } from '@perdure/ports'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table } from './write-applier.ts'

export interface WebhookTable extends Table<WebhookStore, 'webhook.insert' | 'webhook.replace'> {
  has(id: string): boolean
  remove(id: string, undo: UndoLog): void
}

export function createWebhookTable(): WebhookTable {
  const webhooks = new Map<string, WebhookRecord>()

  return {
    store: {
      find: async (id) => webhooks.get(id),
      list: async () => Array.from(webhooks.values()).sort((one, other) => (one.id < other.id ? -1 : 1)),
    },
    appliers: {
      'webhook.insert'({ type, webhook, limits }, { undo }) {
        const current = webhooks.get(webhook.id)
        if (current !== undefined) return { type, current }
        const reached = limits === undefined ? undefined : reachedLimit(webhooks, webhook, limits)
        if (reached !== undefined) return { type, reached }
        putEntry(webhooks, [webhook.id, webhook], undo)
        return 1
      },
      'webhook.replace'({ type, webhook }, { undo }) {
        const current = webhooks.get(webhook.id)
        if (current?.version !== webhook.version - 1) return { type, current }
        putEntry(webhooks, [webhook.id, Object.freeze({ ...webhook, createdAt: current.createdAt })], undo)
        return 1
      },
    },
    has: (id) => webhooks.has(id),
    remove: (id, undo) => putEntry(webhooks, [id, undefined], undo),
  }
}

function reachedLimit(
  webhooks: ReadonlyMap<string, WebhookRecord>,
  { createdBy }: WebhookRecord,
  { total, ofCreator }: WebhookLimits,
): keyof WebhookLimits | undefined {
  if (total !== undefined && webhooks.size >= total) return 'total'
  const own = [...webhooks.values()].filter((one) => one.source === 'api' && one.createdBy === createdBy)
  return ofCreator !== undefined && own.length >= ofCreator ? 'ofCreator' : undefined
}
