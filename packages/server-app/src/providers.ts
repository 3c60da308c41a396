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
export { retry } from './retry.ts'
