import type { WebhookLimits, WebhookRecord } from '@perdure/ports'
import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { WriteAppliers } from '../transaction.ts'
import { toWebhook, toWebhookRow, WEBHOOK_COLUMNS, type WebhookRow } from './webhook-row.ts'

export function* findWebhook(db: Db, id: string): Program<WebhookRecord | undefined> {
  const row = yield* db.get(SELECT_WEBHOOK, { id })
  return row === undefined ? undefined : toWebhook(row)
}

export function* listWebhooks(db: Db): Program<readonly WebhookRecord[]> {
  return (yield* db.all(SELECT_WEBHOOKS, {})).map(toWebhook)
}

export const webhookWrites: WriteAppliers<'webhook.insert' | 'webhook.replace' | 'webhook.delete'> = {
  *'webhook.insert'({ db }, { type, webhook, limits }) {
    const reached = limits === undefined ? undefined : yield* reachedLimit(db, webhook, limits)
    if (reached !== undefined) {
      const current = yield* findWebhook(db, webhook.id)
      return current === undefined ? { type, reached } : { type, current }
    }
    const changes = yield* db.run(insertWebhook, toWebhookRow(webhook))
    return changes === 1 ? 1 : { type, current: yield* findWebhook(db, webhook.id) }
  },
  *'webhook.replace'({ db }, { type, webhook }) {
    const changes = yield* db.run(replaceWebhook, { ...toWebhookRow(webhook), before: webhook.version - 1 })
    return changes === 1 ? 1 : { type, current: yield* findWebhook(db, webhook.id) }
  },
  *'webhook.delete'({ db }, { id }) {
    yield* db.run(deleteDeliveries, { id })
    return yield* db.run(deleteWebhook, { id })
  },
}

/** Serializes the insertions that have limits, so that none counts too few webhooks. */
function* reachedLimit(
  db: Db,
  { createdBy }: WebhookRecord,
  { total, ofCreator }: WebhookLimits,
): Program<keyof WebhookLimits | undefined> {
  yield* takeLock(db, 'webhooks')
  const webhooks = yield* listWebhooks(db)
  if (total !== undefined && webhooks.length >= total) return 'total'
  const own = webhooks.filter((one) => one.source === 'api' && one.createdBy === createdBy)
  return ofCreator !== undefined && own.length >= ofCreator ? 'ofCreator' : undefined
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
