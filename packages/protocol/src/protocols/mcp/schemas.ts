import * as v from 'valibot'
import { documented, member } from '../../documented.ts'

const MAX_TEXT = 512

/** The id of a request: JSON numbers keep their form, and texts are echoed. */
const RpcId = v.union([v.pipe(v.string(), v.maxLength(MAX_TEXT)), v.pipe(v.number(), v.safeInteger())])

export const McpMessage = documented(
  v.looseObject({
    jsonrpc: member(v.literal('2.0'), 'The version of JSON-RPC.'),
    id: member(
      v.optional(RpcId),
      'Id of the request, or of the request that this message answers. Absent for notifications.',
    ),
    method: member(
      v.optional(v.pipe(v.string(), v.maxLength(MAX_TEXT))),
      'Name of the request or notification, such as `tools/call`. Absent for responses.',
    ),
    params: member(v.optional(v.record(v.string(), v.unknown())), 'The parameters of the method.'),
    result: member(v.optional(v.unknown()), 'The response to a request of the server.'),
    error: member(v.optional(v.unknown()), 'Why the client could not answer a request of the server.'),
  }),
  'A JSON-RPC 2.0 message of the Model Context Protocol.',
  { jsonrpc: '2.0', id: 1, method: 'tools/list' },
)
