import type { McpClient, Timers } from '@perdure/ports'
import type { Attribution } from './attribution.ts'

type Outside = Attribution['outside']

/** Timer callbacks are work of the server, even if the code of a run started the timer. */
export const unattributedTimers = (timers: Timers, outside: Outside): Timers => ({
  after: (delayMs, fn) => outside(() => timers.after(delayMs, fn)),
})

/** A connection to an MCP server outlives the run that opened it, so later messages are not attributed to that run. */
export const unattributedMcpClient = (mcp: McpClient, outside: Outside): McpClient => ({
  ...mcp,
  tools: (endpoint) => outside(() => mcp.tools(endpoint)),
  call: (endpoint, call) => outside(() => mcp.call(endpoint, call)),
})
