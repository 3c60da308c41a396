import * as v from 'valibot'

/** The types of events that webhooks deliver. */
export const WEBHOOK_EVENTS = [
  'run.queued',
  'run.started',
  'run.suspended',
  'run.completed',
  'run.failed',
  'run.aborted',
  'approval.requested',
  'approval.resolved',
  'approval.expired',
  'trigger.failed',
] as const

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number]

/** Whether a pattern selects the type of an event: the type itself, `*`, or a prefix such as `run.*`. */
export function matchesEvent(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))
}

/** A pattern that selects at least one type. */
export const WebhookEventPattern = v.pipe(
  v.string(),
  v.maxLength(64),
  v.check(
    (pattern) => WEBHOOK_EVENTS.some((type) => matchesEvent(pattern, type)),
    `must be *, run.*, approval.*, trigger.*, or one of ${WEBHOOK_EVENTS.join(', ')}`,
  ),
)
