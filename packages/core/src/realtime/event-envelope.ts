/** An event as the API returns it. */
export interface EventEnvelope {
  readonly eventId: string
  readonly subject: string
  readonly type: string
  readonly payload: unknown
  readonly at: string
  readonly runId?: string
}
