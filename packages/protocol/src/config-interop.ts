import { field, section } from './config-section.ts'
import { boolean, bytes, count, milliseconds } from './config-values.ts'

/** The protocols of other software. */
export const InteropSection = section({
  enabled: field(boolean, true, {
    note: 'Mount the routes of other protocols. When false, nothing of them is loaded.',
  }),
  aiSdk: field(boolean, true, { note: 'Mount the routes of the AI SDK, below each agent: chat.' }),
  agUi: field(boolean, true, { note: 'Mount the routes of AG-UI, below each agent: ag-ui.' }),
  mcp: field(boolean, true, { note: 'Mount the MCP server at /mcp: agents and workflows as tools.' }),
  mcpCallTimeoutMs: field(milliseconds(1), 50_000, {
    note: 'How long an MCP tool call without progress notifications waits for its run, in milliseconds. MCP clients give up after 60 seconds; the call then answers with the id of the run.',
  }),
  heartbeatMs: field(milliseconds(100), 5_000, {
    note: 'Interval of the heartbeat comment on an idle stream of another protocol, in milliseconds.',
  }),
  bodyLimitBytes: field(bytes, 8_388_608, {
    note: 'Maximum size of a request body on these routes, in bytes: clients send the whole history. The stored input of a run has the limit runs.maxResultBytes.',
  }),
  historyRuns: field(count(1), 20, {
    note: 'How many of the newest runs of a chat are shown with all parts; older ones are shown as their messages.',
  }),
  replayEndedMs: field(milliseconds(0), 60_000, {
    note: 'How long after the end of a run a reconnecting AI SDK client gets its stream again, in milliseconds.',
  }),
})
