import type { Days } from '../declarations/longest-limit.ts'

/** When rows are removed. A missing limit: never. */
export interface RetentionLimits {
  readonly eventsDays: number
  /** Days after which expired and revoked tokens are removed. */
  readonly tokensDays: number
  readonly runsDays?: Days
  /** Days without activity. */
  readonly sessionsDays?: Days
}
