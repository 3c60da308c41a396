import { PerdureError, type PerdureErrorCode } from '@perdure/protocol/error'
import { CLOSE_NAMES, RPC_NAMES } from './protocol-tables.ts'
import { type Backoff, backoffMs, isFinalStatus } from './retry-policy.ts'
import type { RpcAnswer, SocketClose } from './socket-connection.ts'

/** What to do with the subscriptions of a closed connection. */
export type Reconnect =
  | { readonly kind: 'reconnect'; readonly delayMs: number }
  /** Reconnect once with a new ticket. */
  | { readonly kind: 'renew'; readonly error: PerdureError }
  | { readonly kind: 'final'; readonly error: PerdureError }

const BACKOFF: Backoff = { baseMs: 200, maxMs: 10_000 }
/** The server counts a client's messages over this window. */
const MESSAGE_WINDOW_MS = 10_000

const ERRORS_OF_NAMES: Readonly<Record<string, PerdureErrorCode>> = {
  'auth.required': 'auth-required',
  'auth.invalid': 'auth-invalid',
  'auth.revoked': 'auth-revoked',
  'auth.scope_denied': 'scope-denied',
  'protocol.violation': 'protocol-violation',
  'invalid-params': 'validation-failed',
}

/** @param failures consecutive connections that failed before they became stable */
export function closePolicy({ code, reason }: SocketClose, failures: number, chance: number): Reconnect {
  const name = CLOSE_NAMES[code] ?? ''
  if (name.startsWith('auth.')) return { kind: 'renew', error: closedAs(name, { code, reason }) }
  if (name === 'protocol.violation') return { kind: 'final', error: closedAs(name, { code, reason }) }
  const windowMs = name === 'rate.limited' ? MESSAGE_WINDOW_MS : 0
  return { kind: 'reconnect', delayMs: windowMs + backoffMs(BACKOFF, failures, chance) }
}

/** What to do when no ticket could be obtained. */
export function ticketErrorPolicy(error: PerdureError, failures: number, chance: number): Reconnect {
  if (isFinalStatus(error.status)) return { kind: 'final', error }
  return { kind: 'reconnect', delayMs: (error.retryAfter ?? 0) + backoffMs(BACKOFF, failures, chance) }
}

const closedAs = (name: string, { code, reason }: Pick<SocketClose, 'code' | 'reason'>) =>
  new PerdureError(ERRORS_OF_NAMES[name] ?? name, `The server closed the WebSocket with ${code}: ${reason || name}.`, {
    closeCode: code,
  })

/** Errors that may go away on a later attempt. */
const TRANSIENT = ['internal-error', 'rate-limited']

/** Returns the error of a permanently rejected subscription, or `undefined` if a retry may succeed. */
export function finalRefusal({
  error: { code, message },
}: Extract<RpcAnswer, { error: unknown }>): PerdureError | undefined {
  const name = RPC_NAMES[code] ?? 'protocol-violation'
  return TRANSIENT.includes(name) ? undefined : new PerdureError(ERRORS_OF_NAMES[name] ?? name, message)
}
