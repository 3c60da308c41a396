export type { ProviderHeaders, RetryDeps, RetryFn } from '@perdure/core'
export type { Clock, Timers } from '@perdure/ports'
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
  retry,
} from '@perdure/server-app/providers'
