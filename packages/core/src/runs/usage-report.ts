/** What a model call cost. */
export interface UsageReport {
  readonly provider: string
  readonly model: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly costUsd?: number
}
