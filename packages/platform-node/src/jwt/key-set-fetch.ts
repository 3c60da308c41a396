import { isNamedError, NamedError } from '@perdure/ports'
import { readBounded } from '../outbound/read-bounded.ts'

export interface KeySetFetchOptions {
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  readonly monotonicMs?: () => number
  /** Pause after a fetch before an unknown `kid` causes the next one. Default: 30 seconds. */
  readonly coolDownMs?: number
  /** Pause after a failed fetch. Default: 5 seconds. */
  readonly failureCoolDownMs?: number
  /** Time for a whole fetch. Default: 5 seconds. */
  readonly timeoutMs?: number
  /** Default: 256 KiB. */
  readonly maxBytes?: number
}

const FAILURE_COOL_DOWN_MS = 5_000
const MAX_BYTES = 262_144
const UNAVAILABLE = 'KeysUnavailable'

export const isKeysUnavailable = (error: unknown): boolean => isNamedError(error, UNAVAILABLE)

/**
 * Fetches a JWK Set. Follows no redirect, reads at most `maxBytes`, and rejects what is not a JWK Set. After a failed
 * fetch, it rejects at once until the pause is over, so that requests neither wait for nor burden a broken issuer.
 */
export function createKeySetFetch(options: KeySetFetchOptions) {
  const { fetch: send = fetch, monotonicMs = () => performance.now() } = options
  const { failureCoolDownMs = FAILURE_COOL_DOWN_MS, maxBytes = MAX_BYTES } = options
  let failure: { readonly error: Error; readonly atMs: number } | undefined

  const read = async (url: string, signal: AbortSignal): Promise<Response> => {
    const response = await send(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`the answer has the status ${response.status}`)
    }
    const text = await readBounded(response, maxBytes)
    if (!isKeySet(text)) throw new Error('the answer is not a JWK Set')
    return new Response(text)
  }

  return async (url: string, { signal }: { readonly signal: AbortSignal }): Promise<Response> => {
    if (failure !== undefined && monotonicMs() - failure.atMs < failureCoolDownMs) throw failure.error
    try {
      const response = await read(url, signal)
      failure = undefined
      return response
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause)
      const error = new NamedError(UNAVAILABLE, `cannot fetch the keys from ${url}: ${detail}`, cause)
      failure = { error, atMs: monotonicMs() }
      throw error
    }
  }
}

function isKeySet(text: string): boolean {
  try {
    const { keys } = JSON.parse(text) as { readonly keys?: unknown }
    return Array.isArray(keys)
  } catch {
    return false
  }
}
