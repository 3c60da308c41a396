import type { CloseName } from '@perdure/protocol'
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

const ON_CLOSE: Readonly<
  Record<
    CloseName,
    | { readonly kind: 'renew' | 'final'; readonly error: PerdureErrorCode }
    | { readonly kind: 'reconnect'; readonly afterMs: number }
  >
> = {
  'auth.required': { kind: 'renew', error: 'auth-required' },
  'auth.invalid': { kind: 'renew', error: 'auth-invalid' },
  'auth.revoked': { kind: 'renew', error: 'auth-revoked' },
  'auth.scope_denied': { kind: 'renew', error: 'scope-denied' },
  'rate.limited': { kind: 'reconnect', afterMs: MESSAGE_WINDOW_MS },
  'flow.throttled': { kind: 'reconnect', afterMs: 0 },
  'server.shutdown': { kind: 'reconnect', afterMs: 0 },
  'protocol.violation': { kind: 'final', error: 'protocol-violation' },
}

/** @param failures consecutive connections that failed before they became stable */
export function closePolicy({ code, reason }: SocketClose, failures: number, chance: number): Reconnect {
  const name = CLOSE_NAMES[code]
  const action = name === undefined ? undefined : ON_CLOSE[name]
  if (action === undefined || action.kind === 'reconnect') {
    return { kind: 'reconnect', delayMs: (action?.afterMs ?? 0) + backoffMs(BACKOFF, failures, chance) }
  }
  const message = `The server closed the WebSocket with ${code}: ${reason || name}.`
  return { kind: action.kind, error: new PerdureError(action.error, message, { closeCode: code }) }
}

/** What to do when no ticket could be obtained. */
export function ticketErrorPolicy(error: PerdureError, failures: number, chance: number): Reconnect {
  if (isFinalStatus(error.status)) return { kind: 'final', error }
  return { kind: 'reconnect', delayMs: (error.retryAfter ?? 0) + backoffMs(BACKOFF, failures, chance) }
}

/** Errors that may go away on a later attempt. */
const TRANSIENT = ['internal-error', 'rate-limited']

/** Returns the error of a permanently rejected subscription, or `undefined` if a retry may succeed. */
export function finalRefusal({
  error: { code, message },
}: Extract<RpcAnswer, { error: unknown }>): PerdureError | undefined {
  const name = RPC_NAMES[code] ?? 'protocol-violation'
  if (TRANSIENT.includes(name)) return undefined
  return new PerdureError(name === 'invalid-params' ? 'validation-failed' : name, message)
}
