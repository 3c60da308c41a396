import {
  type Conflict,
  EVERY_ROW,
  type EventLog,
  type IdGenerator,
  type Page,
  type PageQuery,
  perdureError,
  plusMs,
  type Sealer,
  type Visibility,
  type WebhookLimits,
  type WebhookRecord,
  type WebhookSender,
  type WebhookStore,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { type CallerTokenDeps, readCallerTokens } from '../auth/caller-token.ts'
import type { Principal } from '../auth/principal.ts'
import { pageByName } from '../collections/page-by-name.ts'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { disabledWebhook, enabledWebhook } from './disabled-webhook.ts'
import { findWebhook, isVisibleWebhook } from './find-webhook.ts'
import { EVERY_OWNER, toWebhookResource, type WebhookResource } from './webhook-resource.ts'
import { checkWebhookRights } from './webhook-rights.ts'
import { generateSecret, sealSecret } from './webhook-secret.ts'

export interface ManageWebhooksDeps extends CommitOnceDeps, CallerTokenDeps {
  readonly webhooks: WebhookStore
  readonly events: Pick<EventLog, 'head'>
  readonly ids: IdGenerator
  readonly sealer: Sealer
  /** Whether sealed texts can be opened after a restart. */
  readonly isSealerDurable: boolean
  readonly sender: Pick<WebhookSender, 'refusalOf'>
  readonly basePath: string
  /** For callers with a grant for their own webhooks. */
  readonly maxPerSubject: number
  /** Wakes the daemon to pick up the change. */
  readonly wake: () => void
}

export interface WebhookCall {
  readonly webhookId: string
  readonly principal: Principal
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

export interface NewWebhook {
  readonly id?: string | undefined
  readonly url: string
  readonly events?: readonly string[] | undefined
  readonly targets?: readonly string[] | undefined
  /** A subject, or `*` for every owner; by default the caller. */
  readonly owner?: string | undefined
}

export type WebhookUpdate = Pick<NewWebhook, 'url' | 'events' | 'targets'>

/** Administers webhooks. Each change is one commit that includes its audit entry. */
export interface ManageWebhooks {
  list(page: PageQuery, visibility: Visibility): Promise<Page<WebhookResource>>
  /** @throws PerdureError `webhook-not-found` */
  get(webhookId: string, visibility: Visibility): Promise<WebhookResource>
  /**
   * Adds a webhook, which receives the events from now on. The answer contains its secret, which is shown only once.
   * @throws PerdureError `webhook-exists`, `webhook-limit`, `webhook-pepper-missing`, `webhook-url-denied`, `scope-denied`,
   *   `scope-escalation-denied` if the caller may not read what the webhook would send
   */
  create(call: Omit<WebhookCall, 'webhookId'> & { readonly webhook: NewWebhook }): Promise<Reply>
  /**
   * Changes the webhook, which has the rights of the caller from then on.
   * @throws PerdureError `webhook-not-found`, `webhook-configured`, `webhook-url-denied`, `scope-escalation-denied`
   */
  update(call: WebhookCall & { readonly change: Partial<WebhookUpdate> }): Promise<Reply>
  /** Deletes the webhook and its deliveries. @throws PerdureError `webhook-not-found`, `webhook-configured` */
  remove(call: WebhookCall): Promise<Reply>
  /**
   * Delivers events from now on, with the rights of the caller.
   * @throws PerdureError `webhook-not-found`, `scope-escalation-denied`
   */
  enable(call: WebhookCall): Promise<Reply>
  /** Sends nothing until the webhook is enabled. @throws PerdureError `webhook-not-found` */
  disable(call: WebhookCall): Promise<Reply>
  /**
   * Replaces the secret. The previous one signs as well for `graceSeconds`.
   * @throws PerdureError `webhook-not-found`, `webhook-configured`, `webhook-pepper-missing`
   */
  rotate(call: WebhookCall & { readonly graceSeconds: number }): Promise<Reply>
}

const MAX_WEBHOOKS = 1_000
/** Only callers with a grant for every webhook may use the last ones. */
const RESERVED_WEBHOOKS = 100

export function createManageWebhooks(deps: ManageWebhooksDeps): ManageWebhooks {
  const { webhooks, events, clock, ids, sealer, sender, basePath } = deps

  const once = async (
    key: KeyedRequest | undefined,
    decide: (earlier?: Conflict) => Promise<Decision>,
  ): Promise<Reply> => {
    const outcome = await requireAudit(() => commitOnce(deps, key, decide))
    if (outcome.kind === 'replayed') return outcome.reply
    deps.wake()
    return outcome.decision.reply
  }

  const change = (
    { webhookId, principal, visibility, key }: WebhookCall,
    action: string,
    changed: (webhook: WebhookRecord) => Promise<WebhookRecord> | WebhookRecord,
  ) =>
    once(key, async () => {
      const webhook = await changed(await findWebhook(webhooks, webhookId, visibility))
      const entry = { at: clock.now(), action, target: webhookId }
      return {
        writes: [{ type: 'webhook.replace', webhook }, auditWrite(principal, entry)],
        reply: { status: 200, body: toWebhookResource(webhook) },
        remember: true,
      }
    })

  const limitsFor = (visibility: Visibility): WebhookLimits =>
    visibility === EVERY_ROW
      ? { total: MAX_WEBHOOKS }
      : { total: MAX_WEBHOOKS - RESERVED_WEBHOOKS, ofCreator: deps.maxPerSubject }

  const refuseInsertion = (earlier: Conflict | undefined) => {
    if (earlier?.type !== 'webhook.insert') return
    if (earlier.current !== undefined) throw perdureError('webhook-exists')
    if (earlier.reached === 'total') throw perdureError('webhook-limit')
    if (earlier.reached === 'ofCreator') {
      throw perdureError('webhook-limit', {
        message: `the subject already has ${deps.maxPerSubject} webhooks, the maximum`,
        hint: 'delete a webhook, or ask the operator to raise webhooks.maxPerSubject',
      })
    }
  }

  const checkUrl = (url: string) => {
    const refusal = sender.refusalOf(url)
    if (refusal !== undefined) {
      const hint = 'use a public https: address, or ask the operator to add its host to webhooks.allowHosts'
      throw perdureError('webhook-url-denied', { message: refusal, hint })
    }
  }

  /** A token that was removed since the request began is kept too: the webhook is then disabled before it sends. */
  const tokenOf = async (principal: Principal) =>
    (await readCallerTokens(deps, principal)).creator?.id ?? principal.tokenId

  const withRightsOf = async (principal: Principal, webhook: WebhookRecord): Promise<WebhookRecord> => {
    checkWebhookRights(principal, webhook)
    return { ...webhook, createdByToken: await tokenOf(principal) }
  }

  const newSecret = (webhookId: string) => {
    if (!deps.isSealerDurable) throw perdureError('webhook-pepper-missing', { hint: 'set auth.pepperRef' })
    const secret = generateSecret(ids)
    return { secret, stored: sealSecret(sealer, webhookId, secret) }
  }

  return {
    async list(page, visibility) {
      const visible = (await webhooks.list()).filter((webhook) => isVisibleWebhook(webhook, visibility))
      return pageByName(visible.map(toWebhookResource), ({ id }) => id, page)
    },
    get: async (webhookId, visibility) => toWebhookResource(await findWebhook(webhooks, webhookId, visibility)),
    async create({ webhook, principal, visibility, key }) {
      const { id = ids.newId('webhook'), url, events: patterns = ['*'], targets } = webhook
      checkUrl(url)
      const owner = webhook.owner ?? principal.subject
      const isOwn = owner === principal.subject && owner !== EVERY_OWNER
      if (!isOwn && visibility !== EVERY_ROW) {
        throw perdureError('scope-denied', { hint: 'use a token with the scope webhooks:write to name another owner' })
      }
      const selection = { events: patterns, owner: owner === EVERY_OWNER ? undefined : owner }
      checkWebhookRights(principal, selection)
      if (webhook.id !== undefined && visibility !== EVERY_ROW) {
        const hint = 'leave out the id: only a token with the scope webhooks:write may choose one'
        throw perdureError('scope-denied', { hint })
      }
      const { secret, stored } = newSecret(id)
      return once(key, async (earlier) => {
        refuseInsertion(earlier)
        const createdByToken = await tokenOf(principal)
        const { position } = await events.head()
        const now = clock.now()
        const record: WebhookRecord = {
          id,
          url,
          ...selection,
          targets,
          source: 'api',
          secrets: [stored],
          position,
          createdBy: principal.subject,
          createdByToken,
          version: 1,
          createdAt: now,
        }
        const entry = { at: now, action: 'webhooks.create', target: id, detail: { url, owner } }
        return {
          writes: [
            { type: 'webhook.insert', webhook: record, limits: limitsFor(visibility) },
            auditWrite(principal, entry),
          ],
          reply: {
            status: 201,
            body: { ...toWebhookResource(record), secret },
            location: `${basePath}/webhooks/${id}`,
          },
          remember: true,
        }
      })
    },
    async update({ change: { url, events: patterns, targets }, ...call }) {
      if (url !== undefined) checkUrl(url)
      return change(call, 'webhooks.update', (webhook) =>
        withRightsOf(call.principal, {
          ...refuseConfigured(webhook),
          url: url ?? webhook.url,
          events: patterns ?? webhook.events,
          targets: targets ?? webhook.targets,
          version: webhook.version + 1,
        }),
      )
    },
    remove: ({ webhookId, principal, visibility, key }) =>
      once(key, async () => {
        const webhook = await findWebhook(webhooks, webhookId, visibility)
        if (webhook.undeclaredAt === undefined) refuseConfigured(webhook)
        const entry = { at: clock.now(), action: 'webhooks.delete', target: webhookId }
        return {
          writes: [{ type: 'webhook.delete', id: webhookId }, auditWrite(principal, entry)],
          reply: { status: 204 },
          remember: true,
        }
      }),
    enable: (call) =>
      change(call, 'webhooks.enable', async (webhook) => {
        const enabled = enabledWebhook(webhook, (await events.head()).position)
        return webhook.source === 'code' ? enabled : withRightsOf(call.principal, enabled)
      }),
    disable: (call) =>
      change(call, 'webhooks.disable', (webhook) => disabledWebhook(webhook, clock.now(), 'disabled by an operator')),
    async rotate({ graceSeconds, ...call }) {
      const { webhookId, principal, visibility, key } = call
      const { secret, stored } = newSecret(webhookId)
      return once(key, async () => {
        const webhook = refuseConfigured(await findWebhook(webhooks, webhookId, visibility))
        const [current] = webhook.secrets
        const now = clock.now()
        const expiresAt = plusMs(now, graceSeconds * 1_000)
        const previous = current === undefined || graceSeconds === 0 ? [] : [{ ...current, expiresAt }]
        const rotated = { ...webhook, secrets: [stored, ...previous], version: webhook.version + 1 }
        const entry = { at: now, action: 'webhooks.rotate', target: webhookId }
        return {
          writes: [{ type: 'webhook.replace', webhook: rotated }, auditWrite(principal, entry)],
          reply: { status: 200, body: { ...toWebhookResource(rotated), secret } },
          remember: true,
        }
      })
    },
  }
}

/** @throws PerdureError `webhook-configured` */
function refuseConfigured(webhook: WebhookRecord): WebhookRecord {
  if (webhook.source === 'api') return webhook
  throw perdureError('webhook-configured', { hint: 'change webhookEndpoints in the configuration' })
}
