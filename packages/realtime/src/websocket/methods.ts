import { type AbortRun, type AuthorizeSubject, authorizeOperation, formatEventId, parseEventId } from '@perdure/core'
import {
  type Clock,
  EVERY_ROW,
  type EventLog,
  type EventStream,
  isRefusal,
  perdureError,
  type RunStore,
  toJsonText,
} from '@perdure/ports'
import { REPLAY_GAP, type RPC_METHODS, type RpcErrorName, type RpcMethod, runOperations } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import { endsStream } from '../ends-stream.ts'
import { openSource } from '../open-source.ts'
import type { Connection } from './connection.ts'
import type { Delivery } from './delivery.ts'
import { MESSAGE_WINDOW_MS, type WebSocketLimits } from './web-socket-limits.ts'

export interface MethodDeps {
  readonly authorizeSubject: AuthorizeSubject
  readonly abortRun: AbortRun
  readonly runs: Pick<RunStore, 'find'>
  readonly events: EventLog
  readonly clock: Pick<Clock, 'now'>
  readonly version: string
  readonly limits: WebSocketLimits
  readonly delivery: Pick<Delivery, 'nextId' | 'follow' | 'unfollow'>
  readonly renewCredential: RenewCredential
}

/** Gives the connection the credential of this token from now on. @throws PerdureError if it is refused */
export type RenewCredential = (caller: Connection, token: string) => Promise<MethodRefusal | undefined>

/** The result of a method, and what to send after it. */
export interface MethodResult {
  readonly result: object
  readonly after?: (send: (frame: string) => void) => void
}

/** A refusal that has a JSON-RPC code but no server error code. */
export interface MethodRefusal {
  readonly refused: RpcErrorName
  readonly message: string
}

type ParamsOf<Method extends RpcMethod> = InferOutput<(typeof RPC_METHODS)[Method]['params']>

type Methods = {
  readonly [Method in RpcMethod]: (
    caller: Connection,
    params: ParamsOf<Method>,
  ) => Promise<MethodResult | MethodRefusal>
}

/** Executes a protocol method. @throws PerdureError if the use case refuses */
export type CallMethod = (
  caller: Connection,
  method: RpcMethod,
  params: unknown,
) => Promise<MethodResult | MethodRefusal>

export function createMethods(deps: MethodDeps): CallMethod {
  const { limits, version, clock, delivery } = deps

  const methods: Methods = {
    initialize: async ({ connectionId, principal }) => ({
      result: {
        serverInfo: { name: 'perdure', version },
        connectionId,
        principal: { subject: principal.subject, scopes: principal.scopes },
        limits: {
          maxFrameBytes: limits.maxFrameBytes,
          maxSubscriptions: limits.maxSubscriptions,
          maxMessages: limits.maxMessages,
          messageWindowMs: MESSAGE_WINDOW_MS,
        },
        heartbeatMs: limits.heartbeatMs,
      },
    }),
    'subscription.subscribe': (caller, params) => subscribe(deps, caller, params),
    'subscription.unsubscribe': async (caller, { subscriptionId }) =>
      delivery.unfollow(caller, subscriptionId)
        ? { result: { unsubscribed: true } }
        : {
            refused: 'subscription-not-found',
            message: `this connection has no subscription ${subscriptionId.slice(0, 64)}`,
          },
    'run.cancel': (caller, params) => cancelRun(deps, caller, params),
    'credential.renew': async (caller, { token }) => {
      const refusal = await deps.renewCredential(caller, token)
      if (refusal !== undefined) return refusal
      const { subject, scopes } = caller.principal
      return { result: { principal: { subject, scopes } } }
    },
    ping: async (_, { nonce }) => ({ result: { nonce, at: new Date(clock.now()).toISOString() } }),
  }
  return (caller, method, params) => {
    const call = methods[method] as (caller: Connection, params: unknown) => Promise<MethodResult | MethodRefusal>
    return call(caller, params)
  }
}

async function subscribe(
  { authorizeSubject, events, limits, delivery }: MethodDeps,
  caller: Connection,
  params: ParamsOf<'subscription.subscribe'>,
): Promise<MethodResult | MethodRefusal> {
  const { subject } = params
  const lastEventId = cursorOf(params)
  if (caller.subscriptions.length >= limits.maxSubscriptions) {
    return {
      refused: 'rate-limited',
      message: `this connection already has ${limits.maxSubscriptions} subscriptions, the maximum`,
    }
  }
  const followed = await authorizeSubject(caller.principal, subject)
  const { source, start, head } = await openSource(events, followed, lastEventId)
  const { after, gap } = start
  const isAtHead = after >= head.position
  const replayedCount = isAtHead ? 0 : await countReplayed(events, source.stream, { after, through: head.position })
  const subscriptionId = delivery.nextId(caller)
  return {
    result: {
      subscriptionId,
      subject,
      recovered: lastEventId !== undefined && gap === undefined,
      replayedCount,
      headEventId: formatEventId(head),
    },
    after(send) {
      if (gap !== undefined) {
        const message = 'events after the cursor are no longer available, or the cursor is from another log'
        send(toJsonText({ kind: 'error', code: REPLAY_GAP, message, subject, subscriptionId, data: gap }))
      }
      delivery.follow(caller, { subscriptionId, source, after })
    },
  }
}

/** Counts the events that a reader gets before it reaches the head of the log, or before its stream ends. */
async function countReplayed(
  events: EventLog,
  stream: EventStream,
  range: { readonly after: number; readonly through: number },
): Promise<number> {
  const count = await events.count(stream, range)
  if (count <= 1) return count
  // Deleting a session also deletes its earlier events. If the first event is the deletion, all others belong to a
  // later session with the same id.
  const [first] = await events.read(stream, { after: range.after, limit: 1 })
  return first !== undefined && endsStream(stream, first.type) ? 1 : count
}

/** @throws PerdureError `validation-failed` */
function cursorOf({ lastEventId, sinceEventId }: ParamsOf<'subscription.subscribe'>): string | undefined {
  const cursor = lastEventId ?? sinceEventId
  if (sinceEventId !== undefined && sinceEventId !== cursor) {
    throw perdureError('validation-failed', {
      message: 'sinceEventId: must equal lastEventId if both are given',
    })
  }
  if (cursor !== undefined && parseEventId(cursor) === undefined) {
    throw perdureError('validation-failed', {
      message: 'lastEventId: is not an event id',
      hint: 'send the event id exactly as it was received',
    })
  }
  return cursor
}

async function cancelRun(
  { abortRun, runs }: MethodDeps,
  { principal }: Connection,
  { runId, reason }: ParamsOf<'run.cancel'>,
): Promise<MethodResult> {
  const visibility = authorizeOperation(principal, runOperations.abortRun, { runId })
  try {
    await abortRun({ runId, reason, principal, visibility })
  } catch (error) {
    // The run has already ended; the status in the result says how.
    if (!(isRefusal(error) && error.code === 'run-not-active')) throw error
  }
  const run = await runs.find(runId, EVERY_ROW)
  if (run === undefined) throw perdureError('run-not-found')
  return { result: { runId, status: run.status } }
}
