import type { McpClient, Tracer } from '@perdure/ports'
import { failSpan } from '../tracing/step-span.ts'

/** Wraps the client so that each tool call is a child span, whose trace context is sent to the MCP server. */
export function withMcpSpans(client: McpClient, tracer: Tracer): McpClient {
  if (!tracer.isEnabled) return client
  return {
    ...client,
    async call(endpoint, call) {
      const attributes = { 'gen_ai.tool.name': call.tool, 'perdure.mcp.server.id': endpoint.id }
      const span = tracer.start('mcp.call', attributes, call.traceparent)
      try {
        const outcome = await span.within(() => client.call(endpoint, { ...call, traceparent: span.traceparent }))
        span.end(outcome.ok ? undefined : { error: outcome.error.kind })
        return outcome
      } catch (error) {
        failSpan(span, error)
        throw error
      }
    },
  }
}
