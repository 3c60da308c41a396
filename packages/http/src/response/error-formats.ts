import type { Refusal } from '@perdure/ports'
import { type Dialect, ERRORS, type ErrorSpec, errorLine } from '@perdure/protocol'
import { toEnvelope } from './envelope.ts'

export interface ErrorBody {
  readonly text: string
  readonly contentType: string
}

/** The body of an error response in the form that the clients of a protocol show. */
export function errorBody(error: Refusal, requestId: string, { dialect, json }: AskedIn): ErrorBody {
  const format = dialect === undefined ? undefined : FORMATS[dialect]
  return format?.(error, requestId, json) ?? jsonBody(error, requestId)
}

/** The protocol of the request, and its body as far as it was read. */
export interface AskedIn {
  readonly dialect?: Dialect | undefined
  readonly json?: unknown
}

const jsonBody = (error: Refusal, requestId: string): ErrorBody => ({
  text: JSON.stringify(toEnvelope(error, requestId)),
  contentType: 'application/json; charset=utf-8',
})

/** The member that the message is about, as `body.tools.0: …`. */
const PARAM = /^(?:body|query)\.([\w.[\]]{1,128}): /

const OPENAI_PATHS =
  'use a base URL that ends with /openai; the server has models, chat/completions, responses and conversations'

const openaiTypeOf = (status: number): string => {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

const FORMATS: { readonly [Name in Dialect]: (error: Refusal, requestId: string, json: unknown) => ErrorBody } = {
  'ag-ui': jsonBody,
  // The client shows the body as the text of its error.
  'ai-sdk': (error, requestId) => {
    const { error: code, message, hint } = toEnvelope(error, requestId)
    return { text: errorLine({ message, code, hint }), contentType: 'text/plain; charset=utf-8' }
  },
  openai: (error, requestId) => {
    const {
      error: code,
      message,
      hint = code === 'route-not-found' ? OPENAI_PATHS : undefined,
    } = toEnvelope(error, requestId)
    const [, param = null] = PARAM.exec(message) ?? []
    const text = hint === undefined ? message : `${message.replace(/\.$/, '')}: ${hint}`
    const { status, openai = code }: ErrorSpec = ERRORS[error.code]
    const shown = { message: text, type: openaiTypeOf(status), code: openai, param }
    return {
      text: JSON.stringify({ error: shown, requestId }),
      contentType: 'application/json; charset=utf-8',
    }
  },
  mcp: (error, requestId, json) => {
    const { error: code, message, hint } = toEnvelope(error, requestId)
    const data = { code, hint, requestId, retryAfterMs: error.retryAfter }
    return {
      text: JSON.stringify({ jsonrpc: '2.0', id: rpcIdIn(json), error: { code: rpcCodeOf(error), message, data } }),
      contentType: 'application/json; charset=utf-8',
    }
  },
}

/** The id of the JSON-RPC request; `null` if it has none or was not read. */
function rpcIdIn(json: unknown): string | number | null {
  const id = typeof json === 'object' && json !== null && 'id' in json ? json.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const INTERNAL_ERROR = -32603

const rpcCodeOf = ({ code }: Refusal): number =>
  code === 'invalid-json' ? PARSE_ERROR : ERRORS[code].status < 500 ? INVALID_REQUEST : INTERNAL_ERROR
