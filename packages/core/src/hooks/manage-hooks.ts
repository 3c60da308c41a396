import {
  type HookDeliveryRecord,
  type HookDeliveryStatus,
  type Page,
  type PageQuery,
  perdureError,
  toJsonText,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { holdsScope } from '../auth/authorize.ts'
import type { Principal } from '../auth/principal.ts'
import { pageByName } from '../collections/page-by-name.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { EmissionTurn } from '../workflows/emission-turns.ts'
import { findHook } from './hook.ts'
import {
  type HookDeliveryResource,
  type HookDeliverySummary,
  type HookResource,
  toHookDeliveryResource,
  toHookDeliverySummary,
  toHookResource,
} from './hook-resource.ts'
import { planDelivery } from './plan-delivery.ts'
import { readDelivery } from './read-delivery.ts'
import type { ReceiveHook, ReceiveHookDeps } from './receive-hook.ts'

export interface ManageHooksDeps extends ReceiveHookDeps, CommitOnceDeps {
  readonly receiveHook: ReceiveHook
  readonly basePath: string
}

export interface HookCaller {
  readonly hookId: string
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}

interface HookSample extends HookCaller {
  readonly body?: unknown
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

interface HookReplay extends HookCaller {
  readonly hookDeliveryId: string
}

interface HookDeliveryQuery extends PageQuery {
  readonly status?: HookDeliveryStatus | undefined
}

export interface ManageHooks {
  /** The hooks of the configuration of this process, sorted by id. */
  list(page: PageQuery): Page<HookResource>
  /** @throws PerdureError `hook-not-found` */
  get(hookId: string): HookResource
  /**
   * Deliveries of a hook, also of one that the configuration no longer names.
   * @throws PerdureError `hook-not-found` if the configuration does not name it, and it has no deliveries
   */
  listDeliveries(hookId: string, query: HookDeliveryQuery): Promise<Page<HookDeliverySummary>>
  /** @throws PerdureError `hook-delivery-not-found` */
  getDelivery(hookId: string, hookDeliveryId: string): Promise<HookDeliveryResource>
  /**
   * Handles a delivery again with the present code, whether or not it was handled before.
   * @throws PerdureError `hook-not-found`, `hook-delivery-not-found`
   */
  replay(call: HookReplay): Promise<Reply>
  /** Signs a sample and receives it. @throws PerdureError `hook-not-found`, `hook-not-testable`, and the errors of `ReceiveHook` */
  test(call: HookSample): Promise<Reply>
}

export function createManageHooks(deps: ManageHooksDeps): ManageHooks {
  const { hooks, targets, hookDeliveries, clock, basePath, planEvent } = deps

  const findDelivery = async (hookId: string, hookDeliveryId: string): Promise<HookDeliveryRecord> => {
    const delivery = await hookDeliveries.find(hookDeliveryId)
    if (delivery?.hookId !== hookId) throw perdureError('hook-delivery-not-found')
    return delivery
  }

  const requireDeliveries = async (hookId: string): Promise<void> => {
    const any = await hookDeliveries.list({ hookId }, { limit: 1, order: 'desc' })
    if (any.items.length === 0) throw perdureError('hook-not-found')
  }

  const replay = async ({ hookId, hookDeliveryId, principal, key }: HookReplay, turn: EmissionTurn): Promise<Reply> => {
    const hook = findHook(hooks, hookId)
    const intent = await readDelivery(targets, hook, await findDelivery(hookId, hookDeliveryId))
    let conflicts = 0
    let onCommitted = async (): Promise<void> => undefined
    const once = await requireAudit(() =>
      commitOnce(deps, key, async () => {
        const delivery = await findDelivery(hookId, hookDeliveryId)
        const plan = await planDelivery(deps, { hookId, intent, conflicts, turn })
        conflicts += 1
        onCommitted = plan.onCommitted
        const { reason, event, ...kept } = delivery
        const replayed = { ...kept, ...plan.outcome, replays: delivery.replays + 1 }
        const entry = { at: clock.now(), action: 'hooks.replay', target: hookId, detail: { hookDeliveryId } }
        return {
          writes: [
            { type: 'hook-delivery.replay', id: hookDeliveryId, replays: delivery.replays, outcome: plan.outcome },
            ...plan.writes,
            auditWrite(principal, entry),
          ],
          reply: { status: 200, body: shownTo(principal, replayed) },
          remember: true,
        }
      }),
    )
    if (once.kind === 'replayed') return once.reply
    await onCommitted()
    return once.decision.reply
  }

  return {
    list: (page) =>
      pageByName(
        [...hooks.values()].map((hook) => toHookResource(hook, basePath)),
        ({ id }) => id,
        page,
      ),
    get: (hookId) => toHookResource(findHook(hooks, hookId), basePath),
    async listDeliveries(hookId, { status, ...page }) {
      const { items, nextCursor } = await hookDeliveries.list({ hookId, status }, page)
      if (items.length === 0 && !hooks.has(hookId)) await requireDeliveries(hookId)
      return { items: items.map(toHookDeliverySummary), nextCursor }
    },
    getDelivery: async (hookId, hookDeliveryId) => toHookDeliveryResource(await findDelivery(hookId, hookDeliveryId)),
    replay: (request) => planEvent.inTurn((turn) => replay(request, turn)),
    test: (call) => receiveSample(deps, call),
  }
}

/** A caller who may only write gets no content: the sender's id in a sample names a delivery that was received before. */
function shownTo(principal: Principal, delivery: HookDeliveryRecord): HookDeliveryResource {
  const shown = toHookDeliveryResource(delivery)
  return holdsScope(principal, `hooks:read:${delivery.hookId}`) ? shown : { ...shown, headers: {}, body: '' }
}

/**
 * A test is not stored under its idempotency key but under the id of its delivery, which is derived from the key: a
 * repeated request repeats the delivery.
 */
async function receiveSample(
  { hooks, receiveHook, resolveSecret, clock, ids, digest, unitOfWork }: ManageHooksDeps,
  { hookId, principal, key, body, headers: given = {} }: HookSample,
): Promise<Reply> {
  const hook = findHook(hooks, hookId)
  const { sign } = hook.verifier
  const [reference] = hook.secretRefs
  const secret = reference === undefined ? undefined : await resolveSecret(reference)
  if (sign === undefined || secret === undefined) throw perdureError('hook-not-testable')
  const now = clock.now()
  const deliveryId = `test-${key === undefined ? ids.newId('hookDelivery') : digest.sha256(key.id)}`
  const text = toJsonText(withSampleMembers(body ?? { type: 'test' }, deliveryId, now))
  const headers: Readonly<Record<string, string>> = {
    'user-agent': 'perdure-hooks-test',
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])),
    'content-type': 'application/json',
    ...sign({ deliveryId, body: text, now }, secret.trim()),
  }
  await requireAudit(() =>
    unitOfWork.commit([
      auditWrite(principal, { at: now, action: 'hooks.test', target: hookId, detail: { deliveryId } }),
    ]),
  )
  const received = await receiveHook({
    hookId,
    header: (name) => headers[name],
    readBody: async () => new TextEncoder().encode(text),
  })
  if (received.kind === 'challenge') {
    throw perdureError('hook-not-testable', {
      message: 'the body is a URL challenge, which starts nothing',
      hint: 'send the body of an event',
    })
  }
  return { status: 200, body: shownTo(principal, received.delivery) }
}

/** The members in which some platforms send the id and the time. A body of the caller keeps its own ones. */
const withSampleMembers = (body: unknown, id: string, webhookTimestamp: number): unknown =>
  typeof body === 'object' && body !== null && !Array.isArray(body)
    ? { id, event_id: id, webhookTimestamp, ...body }
    : body
