import { PerdureError, type PerdureErrorCode } from './perdure-error.ts'
import { CLOSE_NAMES, RPC_NAMES } from './protocol-tables.ts'
import { type Backoff, backoffMs, isFinalStatus } from './retry-policy.ts'
import type { Closing, RpcAnswer } from './socket-connection.ts'

/** What a closed connection means for the subscriptions on it. */
export type Verdict =
  | { readonly kind: 'reconnect'; readonly delayMs: number }
  /** Another ticket may help, once. */
  | { readonly kind: 'renew'; readonly error: PerdureError }
  | { readonly kind: 'final'; readonly error: PerdureError }

const BACKOFF: Backoff = { baseMs: 200, maxMs: 10_000 }
/** The window in which the server counts a client's messages. */
const FLOOD_WINDOW_MS = 10_000

const ERRORS_OF_NAMES: Readonly<Record<string, PerdureErrorCode>> = {
  'auth.required': 'auth-required',
  'auth.invalid': 'auth-invalid',
  'auth.revoked': 'auth-revoked',
  'auth.scope_denied': 'scope-denied',
  'protocol.violation': 'protocol-violation',
  'invalid-params': 'validation-failed',
}

/** @param failures connections in a row that came to nothing. */
export function judgeClosing({ code, reason }: Closing, failures: number, chance: number): Verdict {
  const name = CLOSE_NAMES[code] ?? ''
  if (name.startsWith('auth.')) return { kind: 'renew', error: closedAs(name, { code, reason }) }
  if (name === 'protocol.violation') return { kind: 'final', error: closedAs(name, { code, reason }) }
  const floodMs = name === 'rate.limited' ? FLOOD_WINDOW_MS : 0
  return { kind: 'reconnect', delayMs: floodMs + backoffMs(BACKOFF, failures, chance) }
}

/** What it means that no ticket was to be had. */
export function judgeTicket(error: PerdureError, failures: number, chance: number): Verdict {
  if (isFinalStatus(error.status)) return { kind: 'final', error }
  return { kind: 'reconnect', delayMs: (error.retryAfterMs ?? 0) + backoffMs(BACKOFF, failures, chance) }
}

const closedAs = (name: string, { code, reason }: Pick<Closing, 'code' | 'reason'>) =>
  new PerdureError(ERRORS_OF_NAMES[name] ?? name, `The server closed the WebSocket with ${code}: ${reason || name}.`, {
    closeCode: code,
  })

/** Refusals that a later attempt may not meet. */
const PASSING = ['internal-error', 'rate-limited']

/** Why a subscription was refused; `undefined` when it is worth another attempt. */
export function finalRefusal({
  error: { code, message },
}: Extract<RpcAnswer, { error: unknown }>): PerdureError | undefined {
  const name = RPC_NAMES[code] ?? 'protocol-violation'
  return PASSING.includes(name) ? undefined : new PerdureError(ERRORS_OF_NAMES[name] ?? name, message)
}
