import * as v from 'valibot'
import { isPlainObject, record, strictObject } from './plain-object.ts'
import { EventEnvelope } from './resources/event-envelope.ts'
import { RunStatus } from './resources/run-outcome.ts'

/** The WebSocket subprotocol. A browser also offers `ticket.<value>`. */
export const SUBPROTOCOL = 'svc.protocol.v1'
export const TICKET_PREFIX = 'ticket.'

const text = (maxLength: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(maxLength))
/**
 * Numbers come first because most clients send them, and valibot builds an issue for each earlier option that does not
 * match.
 */
const RequestId = v.union([v.pipe(v.number(), v.safeInteger()), v.pipe(v.string(), v.maxLength(128))])
const Version = v.literal('1')

/** A client message: JSON-RPC 2.0, never a batch. */
export const ClientFrame = strictObject({
  jsonrpc: v.literal('2.0'),
  v: v.optional(Version),
  id: RequestId,
  method: v.string(),
  params: v.optional(v.custom<Readonly<Record<string, unknown>>>(isPlainObject, 'must be an object')),
})

export interface RpcMethodSpec {
  readonly params: v.GenericSchema
  readonly result: v.GenericSchema
  readonly summary: string
}

const SubscribeParams = strictObject({
  subject: text(320),
  lastEventId: v.optional(text(128)),
  sinceEventId: v.optional(text(128)), // alias of lastEventId
})

/** The methods a client can call; it must call `initialize` first. */
export const RPC_METHODS = {
  initialize: {
    params: strictObject({
      clientInfo: v.optional(strictObject({ name: text(128), version: text(128) })),
      capabilities: v.optional(record(v.string(), v.unknown())),
    }),
    result: v.object({
      serverInfo: v.object({ name: v.string(), version: v.string() }),
      connectionId: v.string(),
      principal: v.object({ subject: v.string(), scopes: v.array(v.string()) }),
      limits: record(v.string(), v.number()),
      heartbeatMs: v.number(),
    }),
    summary: 'Open the session; until then, the server refuses every other method.',
  },
  'subscription.subscribe': {
    params: SubscribeParams,
    result: v.object({
      subscriptionId: v.string(),
      subject: v.string(),
      recovered: v.boolean(),
      replayedCount: v.number(),
      headEventId: v.string(),
    }),
    summary:
      'Subscribe to a subject, optionally from a cursor. The response precedes the first event; the subscription id is valid on this connection only.',
  },
  'subscription.unsubscribe': {
    params: strictObject({ subscriptionId: text(128) }),
    result: v.object({ unsubscribed: v.literal(true) }),
    summary: 'End a subscription.',
  },
  'run.cancel': {
    params: strictObject({ runId: text(128), reason: v.optional(v.pipe(v.string(), v.maxLength(512))) }),
    result: v.object({ runId: v.string(), status: RunStatus }),
    summary: 'Abort a run.',
  },
  'credential.renew': {
    params: strictObject({ token: text(8_192) }),
    result: v.object({ principal: v.object({ subject: v.string(), scopes: v.array(v.string()) }) }),
    summary:
      'Replace the credential of the connection before it ends: by a token or JWT of the same subject that has every scope of the earlier one. A refusal leaves the earlier credential in place.',
  },
  ping: {
    params: strictObject({ nonce: v.optional(v.pipe(v.string(), v.maxLength(128))) }),
    result: v.object({ nonce: v.optional(v.string()), at: v.string() }),
    summary: 'Check that the server responds.',
  },
} as const satisfies Record<string, RpcMethodSpec>

export type RpcMethod = keyof typeof RPC_METHODS

/** The response to a refused request; `id` is null when the request had no readable id. */
export const RpcErrorFrame = v.object({
  jsonrpc: v.literal('2.0'),
  id: v.nullable(RequestId),
  error: v.object({ code: v.number(), message: v.string(), data: v.optional(v.unknown()) }),
})

/** An event that the server pushes. */
export const EventFrame = v.object({
  v: Version,
  kind: v.literal('event'),
  subscriptionId: v.string(),
  ...EventEnvelope.entries,
})

/** An error that belongs to no request. */
export const ErrorFrame = v.object({
  kind: v.literal('error'),
  code: v.string(),
  message: v.string(),
  subject: v.optional(v.string()),
  subscriptionId: v.optional(v.string()),
  data: v.optional(v.unknown()),
})

/** Reports that events are no longer available: the `code` of an error frame, and the type of an SSE event. */
export const REPLAY_GAP = 'replay-gap'

/** `data` of a gap notice, which precedes the events that are still available. */
export const ReplayGap = v.object({ firstAvailable: v.nullable(v.string()), lastEventId: v.string() })
