import * as v from 'valibot'
import { SecretReference } from '../config-values.ts'
import { TOOL_FAILURES, type ToolFailureKind } from '../failures.ts'
import { OperatorId } from '../ids.ts'
import { record, strictObject } from '../plain-object.ts'

export const McpServer = v.object({
  id: v.string(),
  transport: v.picklist(['stdio', 'http']),
  url: v.optional(v.string()),
  status: v.picklist(['connected', 'disconnected', 'failed']),
  source: v.picklist(['config', 'api']),
})

/** Clients can add only HTTP servers over REST: a request must never start a process. */
export const BindMcpServerRequest = strictObject({
  id: OperatorId,
  transport: v.literal('http'),
  url: v.pipe(v.string(), v.url()),
  headersRef: v.optional(SecretReference),
})

export const McpTool = v.object({
  name: v.string(),
  description: v.optional(v.string()),
  inputSchema: record(v.string(), v.unknown()),
})

export const CallToolRequest = strictObject({ arguments: v.optional(record(v.string(), v.unknown())) })

export const ToolFailure = v.object({
  kind: v.picklist(Object.keys(TOOL_FAILURES) as [ToolFailureKind, ...ToolFailureKind[]]),
  message: v.string(),
})

export const ToolSucceeded = v.object({ ok: v.literal(true), value: v.unknown() })
export const ToolFailed = v.object({ ok: v.literal(false), error: ToolFailure })

/** A tool failure is data, because the call itself was made. */
export const ToolResult = v.variant('ok', [ToolSucceeded, ToolFailed])
