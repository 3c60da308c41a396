import type { EpochMs, WebhookRecord } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from, paramsFor } from '../query/compile.ts'
import type { WebhookTable } from '../query/webhook-schema.ts'
import type { WriteAppliers } from './write-applier.ts'

export function findWebhook(db: Connection, id: string): WebhookRecord | undefined {
  const row = db.get(SELECT_WEBHOOK, { id })
  return row === undefined ? undefined : toRecord(row)
}

export const listWebhooks = (db: Connection): readonly WebhookRecord[] => db.all(SELECT_WEBHOOKS, {}).map(toRecord)

export const webhookWrites: WriteAppliers<'webhook.insert' | 'webhook.replace' | 'webhook.delete'> = {
  'webhook.insert'({ db }, { type, webhook }) {
    const { changes } = db.run(insertWebhook, toRow(webhook))
    return changes === 1 ? 1 : { type, current: findWebhook(db, webhook.id) }
  },
  'webhook.replace'({ db }, { type, webhook }) {
    const { changes } = db.run(replaceWebhook, { ...toRow(webhook), before: webhook.version - 1 })
    return changes === 1 ? 1 : { type, current: findWebhook(db, webhook.id) }
  },
  'webhook.delete'({ db }, { id }) {
    db.run(deleteDeliveries, { id })
    return db.run(deleteWebhook, { id }).changes
  },
}

type WebhookRow = Selectable<WebhookTable>

const COLUMNS = ['id', 'version', 'created_at', 'definition'] as const

const SELECT_WEBHOOK = compile<{ id: string }, WebhookRow>((param) =>
  from.selectFrom('webhooks').selectAll().where('id', '=', param('id')),
)

const SELECT_WEBHOOKS = compile<object, WebhookRow>(() => from.selectFrom('webhooks').selectAll().orderBy('id'))

const insertWebhook = compile<WebhookTable, unknown>((param) =>
  from
    .insertInto('webhooks')
    .values(paramsFor(param, COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const replaceWebhook = compile<WebhookTable & { readonly before: number }, unknown>((param) =>
  from
    .updateTable('webhooks')
    .set(paramsFor(param, ['version', 'definition']))
    .where('id', '=', param('id'))
    .where('version', '=', param('before')),
)

const deleteDeliveries = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('webhook_deliveries').where('webhook_id', '=', param('id')),
)

const deleteWebhook = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('webhooks').where('id', '=', param('id')),
)

/** `definition` holds all fields without a column of their own. */
function toRow({ id, version, createdAt, ...definition }: WebhookRecord): WebhookTable {
  return { id, version, created_at: createdAt, definition: JSON.stringify(definition) }
}

const toRecord = (row: WebhookRow): WebhookRecord => ({
  ...JSON.parse(row.definition),
  id: row.id,
  version: row.version,
  createdAt: row.created_at as EpochMs,
})
