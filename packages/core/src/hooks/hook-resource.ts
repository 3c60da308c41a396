import { fromJsonText, type HookDeliveryRecord } from '@perdure/ports'
import { type Hook, verifyNameOf } from './hook.ts'

/** The hook as the API returns it. */
export function toHookResource(hook: Hook, basePath: string) {
  const { id, to, secretRefs } = hook
  return {
    ...{ id, path: `${basePath}/hooks/${id}`, verify: verifyNameOf(hook), secrets: secretRefs.length },
    ...(to === undefined ? {} : { to: targetOf(to) }),
  }
}

function targetOf(to: NonNullable<Hook['to']>) {
  if ('event' in to) return { event: to.event }
  return 'agent' in to ? { agentId: to.agent } : { workflowId: to.workflow }
}

export type HookResource = ReturnType<typeof toHookResource>

/** A delivery in a list, without its content. */
export function toHookDeliverySummary(delivery: HookDeliveryRecord) {
  const { id, hookId, deliveryId, status, reason, event, fireIds, replays, createdAt, handledAt } = delivery
  return {
    ...{ id, hookId, deliveryId, status, reason, event, fireIds, replays },
    receivedAt: new Date(createdAt).toISOString(),
    handledAt: new Date(handledAt).toISOString(),
  }
}

export type HookDeliverySummary = ReturnType<typeof toHookDeliverySummary>

export const toHookDeliveryResource = (delivery: HookDeliveryRecord) => ({
  ...toHookDeliverySummary(delivery),
  headers: fromJsonText(delivery.headers) as Record<string, string>,
  body: String(fromJsonText(delivery.body)),
})

export type HookDeliveryResource = ReturnType<typeof toHookDeliveryResource>
