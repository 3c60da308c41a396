import { type EpochMs, type FireRecord, fromJsonText, type TriggerRecord } from '@perdure/ports'
import { kindOf } from './kinds/trigger-kinds.ts'
import { isExpired } from './schedule.ts'
import { toIso } from './trigger-events.ts'

/** The trigger as the API returns it. */
export function toTriggerResource(trigger: TriggerRecord, now: EpochMs) {
  const { id, enabled, source, failure, expiresAt, undeclaredAt } = trigger
  const { catchUp, maxCatchUp, catchUpWindowMs, overlap, jitterMs, fireCount, missed } = trigger
  return {
    id,
    ...kindOf(trigger).ruleOf(trigger),
    target: targetOf(trigger.target),
    ...{ enabled, catchUp, maxCatchUp, catchUpWindowMs, overlap, jitterMs, source },
    expiresAt: expiresAt === undefined ? undefined : toIso(expiresAt),
    status: statusOf(trigger, now),
    reason: failure,
    undeclaredAt: undeclaredAt === undefined ? undefined : toIso(undeclaredAt),
    lastFireAt: toIsoOrNull(trigger.lastFireAt),
    nextFireAt: toIsoOrNull(trigger.dueAt),
    lastStatus: trigger.lastStatus ?? null,
    ...{ fireCount, missed },
    createdAt: toIso(trigger.createdAt),
  }
}

export type TriggerResource = ReturnType<typeof toTriggerResource>

function targetOf({ kind, id, input, sessionId }: TriggerRecord['target']) {
  const rest = { input: input === undefined ? undefined : fromJsonText(input), sessionId }
  return kind === 'agent' ? { agentId: id, ...rest } : { workflowId: id, ...rest }
}

export function statusOf(trigger: TriggerRecord, now: EpochMs) {
  if (trigger.orphanedAt !== undefined) return 'orphaned'
  if (isExpired(trigger, now)) return 'expired'
  if (!trigger.enabled) return 'disabled'
  return trigger.failure === undefined ? 'active' : 'failing'
}

export const toFireResource = ({ id, scheduledAt, firedAt, cause, status, runId, reason }: FireRecord) => ({
  id,
  scheduledAt: toIso(scheduledAt),
  firedAt: toIsoOrNull(firedAt),
  manual: cause === 'manual',
  ...{ status, runId, reason },
})

export type FireResource = ReturnType<typeof toFireResource>

const toIsoOrNull = (at: EpochMs | undefined) => (at === undefined ? null : toIso(at))
