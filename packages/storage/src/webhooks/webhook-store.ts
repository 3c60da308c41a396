import type { WebhookLimits, WebhookRecord, WebhookStore } from '@perdure/ports'
import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { deleteBy, insertInto, selectById } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { toWebhook, toWebhookRow, WEBHOOK_COLUMNS, type WebhookRow } from './webhook-row.ts'

export const webhookReads: Reads<WebhookStore> = {
  *find(db, id) {
    const row = yield* db.get(SELECT_WEBHOOK, { id })
    return row && toWebhook(row)
  },
  *list(db) {
    return (yield* db.all(SELECT_WEBHOOKS, {})).map(toWebhook)
  },
}

export const webhookWrites: WriteAppliers<WritesOf<'webhook'>> = {
  *'webhook.insert'({ db }, { type, webhook, limits }) {
    const reached = limits === undefined ? undefined : yield* reachedLimit(db, webhook, limits)
    if (reached !== undefined) {
      const current = yield* webhookReads.find(db, webhook.id)
      return current === undefined ? { type, reached } : { type, current }
    }
    const changes = yield* db.run(insertWebhook, toWebhookRow(webhook))
    return changes === 1 ? 1 : { type, current: yield* webhookReads.find(db, webhook.id) }
  },
  *'webhook.replace'({ db }, { type, webhook }) {
    const changes = yield* db.run(replaceWebhook, { ...toWebhookRow(webhook), before: webhook.version - 1 })
    return changes === 1 ? 1 : { type, current: yield* webhookReads.find(db, webhook.id) }
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
  const webhooks = yield* webhookReads.list(db)
  if (total !== undefined && webhooks.length >= total) return 'total'
  const own = webhooks.filter((one) => one.source === 'api' && one.createdBy === createdBy)
  return ofCreator !== undefined && own.length >= ofCreator ? 'ofCreator' : undefined
}

const SELECT_WEBHOOK = selectById<WebhookRow>('webhooks')

const SELECT_WEBHOOKS = compile<object, WebhookRow>(() => from.selectFrom('webhooks').selectAll().orderBy('id'))

const insertWebhook = insertInto<WebhookRow>('webhooks', WEBHOOK_COLUMNS, 'id')

const replaceWebhook = compile<WebhookRow & { readonly before: number }, unknown>((param) =>
  from
    .updateTable('webhooks')
    .set(paramsFor(param, ['version', 'definition']))
    .where('id', '=', param('id'))
    .where('version', '=', param('before')),
)

const deleteDeliveries = deleteBy('webhook_id', 'webhook_deliveries')
const deleteWebhook = deleteBy('id', 'webhooks')
