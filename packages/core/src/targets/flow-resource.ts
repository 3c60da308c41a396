import type { Concurrency, DebounceRule, FlowKey, RateRule } from './flow-control.ts'

/** How the API shows a key; the code of a key function stays on the server. */
const shownKey = (key: FlowKey) => (typeof key === 'function' ? 'function' : key)

const optionalKey = (key: FlowKey | undefined) => (key === undefined ? {} : { key: shownKey(key) })

export const concurrencyResource = (concurrency: Concurrency) =>
  typeof concurrency === 'string' ? concurrency : { limit: concurrency.limit, ...optionalKey(concurrency.key) }

export const rateLimitResource = ({ limit, periodMs, key }: RateRule) => ({ limit, periodMs, ...optionalKey(key) })

export const debounceResource = ({ periodMs, key, maxWaitMs }: DebounceRule) => ({
  ...{ periodMs, key: shownKey(key) },
  ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
})
