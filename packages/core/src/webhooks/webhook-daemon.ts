import {
  type DeliveryRecord,
  type DeliveryStore,
  type EpochMs,
  type Meter,
  plusMs,
  type WebhookRecord,
  type WebhookStore,
} from '@perdure/ports'
import { createLongestLimit, type LongestLimitDeps } from '../declarations/longest-limit.ts'
import { createSupervisedLoop, type SupervisedLoop, type SupervisedLoopDeps } from '../lifecycle/supervised-loop.ts'
import type { QueueDeliveries } from './queue-deliveries.ts'
import type { SendDelivery } from './send-delivery.ts'
import { createWebhookLanes } from './webhook-lanes.ts'
import { type WithdrawWebhooksDeps, withdrawWebhooks } from './withdraw-webhooks.ts'

export interface WebhookDaemonDeps extends SupervisedLoopDeps, LongestLimitDeps, WithdrawWebhooksDeps {
  readonly webhooks: WebhookStore
  readonly deliveries: DeliveryStore
  readonly meter: Meter
  readonly queueDeliveries: QueueDeliveries
  readonly sendDelivery: SendDelivery
  /** Whether other processes append to the log. */
  readonly isStorageShared: boolean
  readonly retentionDays: number
}

export interface WebhookDaemon extends Pick<SupervisedLoop, 'name' | 'start' | 'stop' | 'wake'> {
  /** Whether there may be a webhook: only then is the daemon woken by commits. */
  isActive(): boolean
}

const DAY_MS = 86_400_000
const PRUNE_EVERY_MS = 600_000
const PRUNED_PER_COMMIT = 500
/** Beside the first attempt in progress, this many retries of a webhook are sent at the same time. */
const RETRIES_AT_ONCE = 3
const POLL_MS = 1_000
/** Then a lane closes, so that other webhooks of its subject get a turn. */
const ATTEMPTS_PER_LANE = 30
const FAR_FUTURE = Number.MAX_SAFE_INTEGER as EpochMs

/**
 * Queues deliveries and sends them. Each webhook has a lane of its own, so that a slow endpoint delays no other; a subject
 * has a limited number of lanes at a time, which its webhooks take in turn. Within a lane, first attempts are sent one after the other, in the order of the log; retries may overtake.
 */
export function createWebhookDaemon(deps: WebhookDaemonDeps): WebhookDaemon {
  const { webhooks, deliveries, clock, queueDeliveries, sendDelivery, isStorageShared } = deps
  const lanes = createWebhookLanes()
  const stopping = new AbortController()
  const longestLimit = createLongestLimit(deps)
  let isActive = true
  let prunedAtMs: number | undefined

  const unattempted = async (webhookId: string): Promise<DeliveryRecord | undefined> =>
    (await deliveries.unattempted(webhookId, 1))[0]

  const sendFirstAttempts = async (webhookId: string) => {
    for (let sent = 0; sent < ATTEMPTS_PER_LANE; sent++) {
      const next = await unattempted(webhookId)
      if (next === undefined || next.dueAt > clock.now() || stopping.signal.aborted) return
      if (!(await sendDelivery(next, stopping.signal))) return
    }
  }

  const sendRetries = async (webhookId: string) => {
    for (let sent = 0; sent < ATTEMPTS_PER_LANE; sent += RETRIES_AT_ONCE) {
      const due = await deliveries.retries(webhookId, clock.now(), RETRIES_AT_ONCE)
      if (due.length === 0 || stopping.signal.aborted) return
      const outcomes = await Promise.all(due.map((delivery) => sendDelivery(delivery, stopping.signal)))
      if (outcomes.includes(false)) return
    }
  }

  const openLane = (webhook: WebhookRecord) => {
    const { id: webhookId } = webhook
    const lane = Promise.allSettled([sendFirstAttempts(webhookId), sendRetries(webhookId)]).then((outcomes) => {
      lanes.close(webhookId)
      const failure = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failure === undefined) loop.wake()
      else deps.logger.error('a webhook delivery could not be stored; retrying', failure.reason)
    })
    lanes.open(webhook, lane)
  }

  /** When the webhook has something to send; `undefined` if there is nothing. */
  const nextDueAt = async (webhookId: string): Promise<EpochMs | undefined> => {
    const first = (await unattempted(webhookId))?.dueAt
    const retry = (await deliveries.retries(webhookId, FAR_FUTURE, 1))[0]?.dueAt
    return first === undefined || (retry !== undefined && retry < first) ? retry : first
  }

  const openDueLanes = async (active: readonly WebhookRecord[]): Promise<number> => {
    let next: EpochMs = FAR_FUTURE
    for (const webhook of lanes.inFairOrder(active)) {
      if (lanes.isOpen(webhook.id)) continue
      // Looks again at the latest after this time, in case that a lane of the subject ends with an error.
      const dueAt = lanes.mayOpen(webhook)
        ? ((await nextDueAt(webhook.id)) ?? FAR_FUTURE)
        : plusMs(clock.now(), POLL_MS)
      if (dueAt <= clock.now()) openLane(webhook)
      else if (dueAt < next) next = dueAt
    }
    return next - clock.now()
  }

  const maintain = async () => {
    const { pending, dead } = await deliveries.counts()
    deps.meter.gauge('svc_webhook_pending_deliveries', {}, pending)
    deps.meter.gauge('svc_webhook_dead_letters', {}, dead)
    if (prunedAtMs !== undefined && clock.monotonicMs() - prunedAtMs < PRUNE_EVERY_MS) return
    const days = await longestLimit('webhook-retention', 'days', deps.retentionDays)
    if (days === undefined) {
      prunedAtMs = clock.monotonicMs()
      return
    }
    const before = plusMs(clock.now(), -days * DAY_MS)
    const outcome = await deps.unitOfWork.commit([{ type: 'delivery.prune', before, limit: PRUNED_PER_COMMIT }])
    const isMore = outcome.committed && outcome.counts[0] === PRUNED_PER_COMMIT
    prunedAtMs = isMore ? undefined : clock.monotonicMs()
  }

  const loop = createSupervisedLoop(deps, {
    name: 'webhooks',
    duty: 'webhooks',
    async work() {
      const all = await webhooks.list()
      isActive = all.length > 0
      if (all.length === 0) return isStorageShared ? POLL_MS : undefined
      const enabled = all.filter(({ disabledAt }) => disabledAt === undefined)
      const active = await withdrawWebhooks(deps, enabled)
      const hasMore = active.length > 0 && (await queueDeliveries(active))
      const delayMs = await openDueLanes(active)
      await maintain()
      if (hasMore) return 0
      return isStorageShared ? Math.min(POLL_MS, delayMs) : delayMs
    },
  })

  return {
    name: loop.name,
    start: loop.start,
    wake: loop.wake,
    isActive: () => isActive,
    async stop() {
      stopping.abort()
      await loop.stop()
      await lanes.settled()
    },
  }
}
