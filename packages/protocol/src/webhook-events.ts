import * as v from 'valibot'
import type { ScopeName } from './scopes.ts'

/** The types of events that webhooks deliver. */
export const WEBHOOK_EVENTS = [
  'run.queued',
  'run.started',
  'run.suspended',
  'run.completed',
  'run.failed',
  'run.aborted',
  'approval.requested',
  'approval.reminder',
  'approval.escalated',
  'approval.resolved',
  'approval.expired',
  'trigger.failed',
] as const

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number]

type EventFamily = WebhookEventType extends `${infer Family}.${string}` ? Family : never

/** What a caller must be able to read to have the events of a family sent to a webhook. */
const WEBHOOK_EVENT_SCOPES = {
  run: 'runs:read',
  approval: 'approvals:read',
  trigger: 'triggers:read',
} as const satisfies Record<EventFamily, ScopeName>

/** The scopes for reading the events that the patterns select, each once. */
export function scopesOfEvents(patterns: readonly string[]): readonly ScopeName[] {
  const types = WEBHOOK_EVENTS.filter((type) => patterns.some((pattern) => matchesEvent(pattern, type)))
  const families = types.map((type) => type.slice(0, type.indexOf('.')) as EventFamily)
  return [...new Set(families)].map((family) => WEBHOOK_EVENT_SCOPES[family])
}

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
