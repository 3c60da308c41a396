import { PROTOCOLS, perProtocol } from '../protocols/index.ts'
import { field, section } from './section.ts'
import { boolean, bytes, count, milliseconds } from './values.ts'

/** The protocols of other software. */
export const ProtocolsSection = section({
  enabled: field(boolean, true, {
    note: 'Mount the routes of the AI SDK, AG-UI, OpenAI and MCP. When false, the server does not load their code.',
  }),
  ...perProtocol((name) => field(boolean, true, { note: PROTOCOLS[name].mounts })),
  mcpCallTimeoutMs: field(milliseconds(1), 50_000, {
    note: 'How long an MCP tool call without progress notifications waits for its run, in milliseconds. The call then returns the id of the run. Many MCP clients give up after 60 seconds.',
  }),
  heartbeatMs: field(milliseconds(100), 5_000, {
    note: 'Interval of the heartbeat comment on an idle stream of these protocols, in milliseconds.',
  }),
  bodyLimitBytes: field(bytes, 8_388_608, {
    note: 'Maximum size of a request body on these routes, in bytes. Chat clients send the whole history with each message. runs.maxResultBytes limits the input that a run stores.',
  }),
  maxAnswerBytes: field(bytes, 8_388_608, {
    note: 'About the maximum size of one answer of these protocols, in bytes. Of a longer run, an answer shows the beginning and names the route that has the rest.',
  }),
  foldCacheBytes: field(bytes, 67_108_864, {
    note: 'Memory in which the server keeps what clients of these protocols have polled, in bytes, so that a poll reads only the newer events of a run.',
  }),
  pollsPerMinute: field(count(1), 600, {
    note: 'Maximum number of requests per minute and client address that resume a stream of these protocols or poll a task. A poll counts once for each MiB of the log that the server reads and shows for it. These requests do not count against server.rateLimit.perIpRequests; if that limit is higher, it applies instead.',
  }),
  historyRuns: field(count(1), 20, {
    note: 'Maximum number of runs in the history of a chat that a client reads with all parts. Up to 200 older runs are shown by their input and result.',
  }),
  replayEndedMs: field(milliseconds(0), 60_000, {
    note: 'How long after the end of a run an AI SDK client can still resume its stream, in milliseconds.',
  }),
})
