import { isFunction, isObject } from '../sdk.ts'

/** The default of the SDK. */
export const MAX_RETRIES = 2

/** Calls a provider again after an error that the SDK marks as retryable, with the delays of the SDK. */
export async function withModelRetries<T>(
  call: () => PromiseLike<T>,
  { maxRetries, signal }: { readonly maxRetries: number; readonly signal: AbortSignal },
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await call()
    } catch (error) {
      if (retry >= maxRetries || signal.aborted || !isRetryable(error)) throw error
      await pause(delayOf(error, FIRST_DELAY_MS * 2 ** retry), signal)
    }
  }
}

const FIRST_DELAY_MS = 2_000
const MAX_GIVEN_DELAY_MS = 60_000

const isRetryable = (error: unknown): boolean => isObject(error) && error.isRetryable === true

/** A delay that the provider demands counts if it is at most a minute. */
function delayOf(error: unknown, byDefault: number): number {
  const headers = isObject(error) && isObject(error.responseHeaders) ? error.responseHeaders : {}
  const ms = Number.parseFloat(String(headers['retry-after-ms']))
  const after = String(headers['retry-after'])
  const seconds = Number.parseFloat(after) * 1_000
  const date = Date.parse(after) - Date.now()
  const given = [ms, seconds, date].find((one) => Number.isFinite(one))
  return given !== undefined && given >= 0 && given < MAX_GIVEN_DELAY_MS ? given : byDefault
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}

export const retriesIn = (maxRetries: unknown): number =>
  typeof maxRetries === 'number' && !isFunction(maxRetries) ? maxRetries : MAX_RETRIES
