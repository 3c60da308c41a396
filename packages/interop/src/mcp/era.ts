import { objectIn, RPC_ERRORS, type RpcId, type RpcRefusal, type RpcRequest } from './json-rpc.ts'

export const MODERN_VERSION = '2026-07-28'

/** The versions with a handshake, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const

/** A legacy client of this version or a newer one accepts a first event without data. */
const PRIMED_SINCE = '2025-11-25'

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
const IDEMPOTENCY_KEY = 'perdure/idempotencyKey'

/** What the server knows about the client of a request. */
export interface Client {
  readonly era: 'legacy' | 'modern'
  /** Whether the client asks its user for decisions. */
  readonly elicits: boolean
  /** Whether the client polls tasks. */
  readonly hasTasks: boolean
  /** Whether the client accepts a first event without data, from which it resumes. */
  readonly isPrimed: boolean
  readonly progressToken?: RpcId | undefined
  readonly idempotencyKey?: string | undefined
}

export type ReadHeader = (name: string) => string | undefined

/**
 * Which version the request speaks, and what its client can do. A request of the version without a handshake says so in
 * `_meta`, and repeats its routing members in headers, which must match.
 */
export function clientOf(request: RpcRequest, header: ReadHeader): Client | RpcRefusal {
  const meta = objectIn(request.params, '_meta')
  const claimed = meta[VERSION_KEY]
  const sent = header('mcp-protocol-version')?.trim()
  const method = header('mcp-method')?.trim()
  if (claimed === undefined && !isModernOnly(sent)) {
    // The header also decides which rate limit applies, so it must be true.
    const isFalse = method !== undefined && method !== request.method
    return isFalse ? mismatch('Mcp-Method', method, request.method) : legacyClient(meta, header, sent)
  }
  return modernProblem(request, meta, header) ?? modernClient(meta)
}

/** A header with an unknown version is refused, unless a legacy client sends one that it has negotiated. */
const isModernOnly = (version: string | undefined): boolean =>
  version !== undefined && !LEGACY_VERSIONS.some((known) => known === version)

/** The session id states what the client has declared in the handshake. It is not a key: the server keeps no session. */
const ELICITING_SESSION = 'perdure1-e'
const OTHER_SESSION = 'perdure1-n'

export const sessionIdOf = (capabilities: Readonly<Record<string, unknown>>): string =>
  'elicitation' in capabilities ? ELICITING_SESSION : OTHER_SESSION

export const legacyClient = (
  meta: Readonly<Record<string, unknown>>,
  header: ReadHeader,
  version = header('mcp-protocol-version')?.trim(),
): Client => ({
  era: 'legacy',
  elicits: header('mcp-session-id')?.trim() === ELICITING_SESSION,
  hasTasks: false,
  isPrimed: version !== undefined && version >= PRIMED_SINCE,
  ...optionsOf(meta),
})

function modernClient(meta: Readonly<Record<string, unknown>>): Client {
  const capabilities = objectIn(meta, CAPABILITIES_KEY)
  return {
    era: 'modern',
    elicits: 'elicitation' in capabilities,
    hasTasks: TASKS_EXTENSION in objectIn(capabilities, 'extensions'),
    isPrimed: false,
    ...optionsOf(meta),
  }
}

function optionsOf(meta: Readonly<Record<string, unknown>>): Pick<Client, 'progressToken' | 'idempotencyKey'> {
  const { progressToken, [IDEMPOTENCY_KEY]: key } = meta
  const isToken =
    typeof progressToken === 'number' || (typeof progressToken === 'string' && progressToken.length <= 128)
  return {
    ...(isToken ? { progressToken } : {}),
    ...(typeof key === 'string' ? { idempotencyKey: key } : {}),
  }
}

function modernProblem(
  request: RpcRequest,
  meta: Readonly<Record<string, unknown>>,
  header: ReadHeader,
): RpcRefusal | undefined {
  const sent = header('mcp-protocol-version')?.trim()
  const claimed = meta[VERSION_KEY]
  if (typeof claimed !== 'string')
    return badRequest(RPC_ERRORS.invalidParams, `params._meta: ${VERSION_KEY} is missing`)
  if (sent !== claimed) return mismatch('MCP-Protocol-Version', sent, claimed)
  if (claimed !== MODERN_VERSION) {
    const data = { supported: [MODERN_VERSION], requested: claimed }
    return { ...badRequest(RPC_ERRORS.unsupportedVersion, `unsupported protocol version ${claimed}`), data }
  }
  if (typeof meta[CAPABILITIES_KEY] !== 'object' || meta[CAPABILITIES_KEY] === null) {
    return badRequest(RPC_ERRORS.invalidParams, `params._meta: ${CAPABILITIES_KEY} is missing`)
  }
  const method = header('mcp-method')?.trim()
  if (method !== request.method) return mismatch('Mcp-Method', method, request.method)
  const member = NAMED_BY[request.method]
  const named = member === undefined ? undefined : request.params?.[member]
  if (typeof named !== 'string') return undefined
  const name = decoded(header('mcp-name')?.trim())
  return name === named ? undefined : mismatch('Mcp-Name', name, named)
}

/** Completes a result with the members that the version of the client demands. */
export type ToResult = (client: Pick<Client, 'era'>, result: object) => object

export const createToResult =
  (serverInfo: object): ToResult =>
  ({ era }, result) =>
    era === 'legacy'
      ? result
      : {
          resultType: 'complete',
          ...result,
          _meta: { ...objectIn({ ...result }, '_meta'), 'io.modelcontextprotocol/serverInfo': serverInfo },
        }

/** The member of `params` that the header `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** A value that is not visible ASCII is sent in base64. */
function decoded(value: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value ?? '') ?? []
  if (encoded === undefined) return value
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}

const badRequest = (code: number, message: string): RpcRefusal => ({ code, message, status: 400 })

const mismatch = (header: string, sent: string | undefined, expected: string): RpcRefusal =>
  badRequest(
    RPC_ERRORS.headerMismatch,
    `the header ${header} is ${sent === undefined ? 'missing' : JSON.stringify(sent)}; the message says ${JSON.stringify(expected)}`,
  )
