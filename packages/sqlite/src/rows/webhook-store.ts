import type { WebhookRecord } from '@perdure/ports'
import { paramsFor, toWebhook, toWebhookRow, WEBHOOK_COLUMNS, type WebhookRow } from '@perdure/sql'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { WriteAppliers } from './write-applier.ts'

export function findWebhook(db: Connection, id: string): WebhookRecord | undefined {
  const row = db.get(SELECT_WEBHOOK, { id })
  return row === undefined ? undefined : toWebhook(row)
}

export const listWebhooks = (db: Connection): readonly WebhookRecord[] => db.all(SELECT_WEBHOOKS, {}).map(toWebhook)

export const webhookWrites: WriteAppliers<'webhook.insert' | 'webhook.replace' | 'webhook.delete'> = {
  'webhook.insert'({ db }, { type, webhook }) {
    const { changes } = db.run(insertWebhook, toWebhookRow(webhook))
    return changes === 1 ? 1 : { type, current: findWebhook(db, webhook.id) }
  },
  'webhook.replace'({ db }, { type, webhook }) {
    const { changes } = db.run(replaceWebhook, { ...toWebhookRow(webhook), before: webhook.version - 1 })
    return changes === 1 ? 1 : { type, current: findWebhook(db, webhook.id) }
  },
  'webhook.delete'({ db }, { id }) {
    db.run(deleteDeliveries, { id })
    return db.run(deleteWebhook, { id }).changes
  },
}

const SELECT_WEBHOOK = compile<{ id: string }, WebhookRow>((param) =>
  from.selectFrom('webhooks').selectAll().where('id', '=', param('id')),
)

const SELECT_WEBHOOKS = compile<object, WebhookRow>(() => from.selectFrom('webhooks').selectAll().orderBy('id'))

const insertWebhook = compile<WebhookRow, unknown>((param) =>
  from
    .insertInto('webhooks')
    .values(paramsFor(param, WEBHOOK_COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const replaceWebhook = compile<WebhookRow & { readonly before: number }, unknown>((param) =>
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
