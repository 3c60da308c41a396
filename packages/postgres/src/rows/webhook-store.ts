import type { WebhookRecord } from '@perdure/ports'
import { paramsFor, toWebhook, toWebhookRow, WEBHOOK_COLUMNS, type WebhookRow } from '@perdure/sql'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import type { WriteAppliers } from './write-applier.ts'

export async function findWebhook(db: Connection, id: string): Promise<WebhookRecord | undefined> {
  const row = await db.get(SELECT_WEBHOOK, { id })
  return row === undefined ? undefined : toWebhook(row)
}

export const listWebhooks = async (db: Connection): Promise<readonly WebhookRecord[]> =>
  (await db.all(SELECT_WEBHOOKS, {})).map(toWebhook)

export const webhookWrites: WriteAppliers<'webhook.insert' | 'webhook.replace' | 'webhook.delete'> = {
  async 'webhook.insert'({ db }, { type, webhook }) {
    const { changes } = await db.run(insertWebhook, toWebhookRow(webhook))
    return changes === 1 ? 1 : { type, current: await findWebhook(db, webhook.id) }
  },
  async 'webhook.replace'({ db }, { type, webhook }) {
    const { changes } = await db.run(replaceWebhook, { ...toWebhookRow(webhook), before: webhook.version - 1 })
    return changes === 1 ? 1 : { type, current: await findWebhook(db, webhook.id) }
  },
  async 'webhook.delete'({ db }, { id }) {
    await db.run(deleteDeliveries, { id })
    return (await db.run(deleteWebhook, { id })).changes
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
