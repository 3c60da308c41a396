import { createHmac, timingSafeEqual } from 'node:crypto'
import type { HookVerdict } from '@perdure/ports'

export interface SignedContent {
  readonly algorithm: string
  /** The pieces that are signed, in order. */
  readonly pieces: readonly (string | Uint8Array)[]
}

const digestOf = ({ algorithm, pieces }: SignedContent, key: Uint8Array): Buffer => {
  const hmac = createHmac(algorithm, key)
  for (const piece of pieces) hmac.update(piece)
  return hmac.digest()
}

/**
 * Whether any of the signatures is that of any of the keys. Compares every pair in constant time, so that the duration
 * depends only on how many there are.
 */
export function isSigned(content: SignedContent, keys: readonly Uint8Array[], signatures: readonly Buffer[]): boolean {
  let isMatch = false
  for (const key of keys) {
    if (key.length === 0) continue // anybody can sign with it
    const expected = digestOf(content, key)
    for (const given of signatures) {
      const isEqual = timingSafeEqual(expected, given.length === expected.length ? given : expected)
      isMatch = (isEqual && given.length === expected.length) || isMatch
    }
  }
  return isMatch
}

export const signatureOf = (content: SignedContent, key: Uint8Array, encoding: 'hex' | 'base64'): string =>
  digestOf(content, key).toString(encoding)

const HEX = /^(?:[0-9a-fA-F]{2})+$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The bytes of a signature; `undefined` if it has another form. */
const decodeSignature = (text: string, encoding: 'hex' | 'base64'): Buffer | undefined =>
  (encoding === 'hex' ? HEX : BASE64).test(text) ? Buffer.from(text, encoding) : undefined

export const decodeAll = (texts: readonly string[], encoding: 'hex' | 'base64'): readonly Buffer[] =>
  texts.flatMap((text) => decodeSignature(text, encoding) ?? [])

export const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8')

export const refused = (reason: string): HookVerdict => ({ kind: 'refused', reason })

export const missing = (header: string): HookVerdict => refused(`the header ${header} is missing`)

export const WRONG_SIGNATURE: HookVerdict = refused('the signature is wrong')

const WHOLE = /^\d{1,16}$/

/** Why the time of a request is refused; `undefined` if it is within the tolerance. */
export function timeProblem(
  timestamp: string,
  { now, toleranceSeconds, unitMs = 1_000 }: { now: number; toleranceSeconds: number; unitMs?: number },
): HookVerdict | undefined {
  if (!WHOLE.test(timestamp)) return refused('the timestamp is not a whole number')
  const ageMs = now - Number(timestamp) * unitMs
  if (ageMs > toleranceSeconds * 1_000) return refused('the timestamp is too old')
  return ageMs < -toleranceSeconds * 1_000 ? refused('the timestamp is in the future') : undefined
}
