import * as v from 'valibot'
import { field, section } from './section.ts'
import { bytes, count, milliseconds } from './values.ts'

/** SSE streams, WebSockets and the cache of recent events. */
export const RealtimeSection = section({
  maxSseStreams: field(count(1), 1_000, { note: 'Maximum number of open SSE streams.' }),
  maxSseStreamsPerToken: field(count(1), 64, {
    note: 'Maximum number of open SSE streams per token.',
  }),
  sseHeartbeatMs: field(milliseconds(100), 15_000, {
    note: 'Interval of the heartbeat comment on an idle SSE stream, in milliseconds.',
  }),
  stallMs: field(milliseconds(100), 10_000, {
    note: 'How long a client may read nothing while events are pending before it is disconnected, in milliseconds.',
  }),
  maxTicketsPerToken: field(count(1), 16, { note: 'Maximum number of unused WebSocket tickets per token.' }),
  ticketTtlMs: field(milliseconds(1_000), 30_000, { note: 'How long a WebSocket ticket is valid, in milliseconds.' }),
  webSocket: section({
    maxConnections: field(count(1), 1_000, { note: 'Maximum number of open WebSockets.' }),
    maxConnectionsPerToken: field(count(1), 20, { note: 'Maximum number of open WebSockets per token.' }),
    maxSubscriptions: field(count(1), 200, { note: 'Maximum number of subscriptions per WebSocket.' }),
    maxFrameBytes: field(bytes, 65_536, {
      note: 'Maximum size of a client message, in bytes; a larger message closes the connection with 1009.',
    }),
    maxMessages: field(count(1), 100, {
      note: 'Maximum number of messages per client in 10 s; more messages close the connection with 4005.',
    }),
    heartbeatMs: field(milliseconds(100), 25_000, {
      note: 'Interval between server pings, in milliseconds; two missed pongs close the connection.',
    }),
    maxUnsentBytes: field(bytes, 1_048_576, {
      note: 'Unsent bytes that a slow client may accumulate for up to realtime.stallMs; then the connection closes with 4006.',
    }),
    maxUnsentBurstBytes: field(bytes, 8_388_608, {
      note: 'Maximum number of unsent bytes for a client at any time; above it, the connection closes with 4006.',
    }),
  }),
  cache: section({
    maxEvents: field(count(0), 1_000, {
      note: 'Maximum number of recent events kept in memory per watched subject.',
    }),
    ttlMs: field(milliseconds(0), 300_000, { note: 'How long an event is kept in memory, in milliseconds.' }),
    maxSubjectBytes: field(bytes, 2_097_152, {
      note: 'Memory limit for the recent events of one subject, in bytes.',
    }),
    maxBytes: field(bytes, 67_108_864, { note: 'Memory limit for the recent events of all subjects, in bytes.' }),
  }),
  sanitizer: section({
    policy: field(v.picklist(['redact', 'strip', 'pass']), 'redact', {
      note: 'Treatment of credentials and addresses in commentary and reasoning: redact replaces them by their kind, strip removes them, pass sends them unchanged.',
    }),
  }),
})
