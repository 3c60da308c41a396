import * as v from 'valibot'

const MAX_TEXT = 512

/** The id of a request: JSON numbers keep their form, and texts are echoed. */
const RpcId = v.union([v.pipe(v.string(), v.maxLength(MAX_TEXT)), v.pipe(v.number(), v.safeInteger())])

/** A JSON-RPC message: a request, a notification, or the answer to a request of the server. */
export const McpMessage = v.looseObject({
  jsonrpc: v.literal('2.0'),
  id: v.optional(RpcId),
  method: v.optional(v.pipe(v.string(), v.maxLength(MAX_TEXT))),
  params: v.optional(v.record(v.string(), v.unknown())),
  result: v.optional(v.unknown()),
  error: v.optional(v.unknown()),
})
