import * as v from 'valibot'
import { SecretReference } from '../config/values.ts'
import { documented, member } from '../documented.ts'
import { TOOL_FAILURES, type ToolFailureKind } from '../failures.ts'
import { OperatorId } from '../ids.ts'
import { record, strictObject } from '../plain-object.ts'

const McpStatus = v.picklist(['connected', 'disconnected', 'failed'])
/** `failed`: the last connection attempt or the connection itself failed. */
export type McpStatus = v.InferOutput<typeof McpStatus>

export const McpServer = documented(
  v.object({
    id: member(v.string(), 'Id of the MCP server.'),
    transport: member(v.picklist(['stdio', 'http']), 'How Perdure connects to the MCP server.'),
    url: member(v.optional(v.string()), 'Address. Present only when `transport` is `http`.'),
    status: member(McpStatus, 'State of the connection.'),
    source: member(v.picklist(['config', 'api']), 'Whether the configuration or a request added it.'),
  }),
  'A Model Context Protocol server.',
  {
    id: 'weather',
    transport: 'http',
    url: 'https://mcp.example.com/weather',
    status: 'connected',
    source: 'api',
  },
)

/** Clients can add only HTTP servers over REST: a request must never start a process. */
export const BindMcpServerRequest = documented(
  strictObject({
    id: member(OperatorId, 'Id of the MCP server: at most 128 letters, digits, `_` or `-`.'),
    transport: member(v.literal('http'), 'Always `http`: a request can never start a process.'),
    url: member(v.pipe(v.string(), v.url()), 'Address. Its host must be in `mcp.allowHosts`.'),
    headersRef: member(
      v.optional(SecretReference),
      'Secret reference to the headers to send. It must be in `mcp.allowHeadersRefs`. Default: none.',
    ),
  }),
  'Adds an MCP server that is reached over HTTP.',
  { id: 'weather', transport: 'http', url: 'https://mcp.example.com/weather' },
)

const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

export const McpTool = documented(
  v.object({
    name: member(v.string(), 'Name of the tool.'),
    description: member(v.optional(v.string()), 'Purpose of the tool. Absent when the MCP server states none.'),
    inputSchema: member(record(v.string(), v.unknown()), 'JSON Schema of the arguments.'),
  }),
  'A tool of an MCP server.',
  { name: 'forecast', description: 'Returns the forecast for a city.', inputSchema },
)

export const CallToolRequest = documented(
  strictObject({
    arguments: member(v.optional(record(v.string(), v.unknown())), 'Arguments of the tool, by name. Default: none.'),
  }),
  'Calls a tool.',
  { arguments: { city: 'Bern' } },
)

const failure = { kind: 'timeout', message: 'the tool did not answer within 30 seconds' } as const

export const ToolFailure = documented(
  v.object({
    kind: member(
      v.picklist(Object.keys(TOOL_FAILURES) as [ToolFailureKind, ...ToolFailureKind[]]),
      'Kind of the failure.',
    ),
    message: member(v.string(), 'Explanation for people.'),
  }),
  'How a tool failed.',
  failure,
)

const success = { ok: true, value: { degrees: 21 } } as const

export const ToolSucceeded = documented(
  v.object({
    ok: member(v.literal(true), 'Always true.'),
    value: member(v.unknown(), 'Value that the tool returned.'),
  }),
  'The tool returned a value.',
  success,
)
export const ToolFailed = documented(
  v.object({ ok: member(v.literal(false), 'Always false.'), error: member(ToolFailure, 'How the tool failed.') }),
  'The tool failed. The call itself was made.',
  { ok: false, error: failure },
)

/** A tool failure is data, because the call itself was made. */
export const ToolResult = documented(
  v.variant('ok', [ToolSucceeded, ToolFailed]),
  'The result of a tool call. `ok` tells whether the tool succeeded.',
  success,
)
