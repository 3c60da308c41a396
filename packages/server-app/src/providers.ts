import { createRetry, type Retry } from '@perdure/core'
import { systemClock, systemTimers } from '@perdure/platform-node'

export {
  classifyProviderResponse,
  createRetry,
  type FallbackCandidate,
  type FallbackOptions,
  fallback,
  ProviderError,
  type ProviderErrorOptions,
  type ProviderResponse,
  type ProviderRetryOptions,
  type Retry,
} from '@perdure/core'

/** Retries a call that failed transiently, after the delay that the provider requests, if any. For use in agents. */
export const retry: Retry = createRetry({ timers: systemTimers, clock: systemClock, random: Math.random })
