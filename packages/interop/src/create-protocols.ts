import { isFields } from '@perdure/core'
import { type Operation, PROTOCOLS, type Protocol, type ProtocolName } from '@perdure/protocol'
import type { AgUiDeps } from './ag-ui/create-ag-ui.ts'
import { agUiHandlers } from './ag-ui/handlers.ts'
import type { AiSdkDeps } from './ai-sdk/create-ai-sdk.ts'
import { aiSdkHandlers } from './ai-sdk/handlers.ts'
import { createFoldCache } from './chat/fold-cache.ts'
import { limitedStreams } from './chat/limited-streams.ts'
import type { Answer, Handlers, ProtocolRequest, StreamPlace } from './handlers.ts'
import { mcpHandlers } from './mcp/handlers.ts'
import type { McpServerDeps } from './mcp/mcp-server.ts'
import { openaiHandlers } from './openai/handlers.ts'
import type { OpenaiDeps } from './openai/openai-call.ts'

/** What the server gives to the protocols. */
export type ProtocolsDeps = Omit<AiSdkDeps & AgUiDeps & OpenaiDeps & McpServerDeps, 'foldCache'> & {
  readonly foldCacheBytes: number
  /** Counts a stream before its run starts. @throws PerdureError `overloaded` */
  readonly reserveStream: (tokenId: string | undefined) => StreamPlace
}

/** Answers a request to an operation of a protocol. @param name the key of the operation in the table of the protocol */
export type CallProtocol = (protocol: ProtocolName, name: string, request: ProtocolRequest) => Promise<Answer>

export function createProtocols(given: ProtocolsDeps): CallProtocol {
  const deps = { ...given, ...limitedStreams(given, given), foldCache: createFoldCache(given.foldCacheBytes) }
  const handlers: { readonly [Name in ProtocolName]: Handlers<Name> } = {
    aiSdk: aiSdkHandlers(deps),
    agUi: agUiHandlers(deps),
    openai: openaiHandlers(deps),
    mcp: mcpHandlers(deps),
  }
  const byName = handlers as unknown as Readonly<Record<ProtocolName, Readonly<Record<string, Handler>>>>
  return async (protocol, name, request) => {
    const handle = byName[protocol][name] as Handler
    if (!answersWithStream(protocol, name, request)) return handle(request)
    const place = given.reserveStream(request.principal.tokenId)
    try {
      return await handle({ ...request, place })
    } finally {
      place.release()
    }
  }
}

/** Whether a request can start a run and waits for its end: it is refused before the run starts if no stream can be open. */
function answersWithStream(protocol: ProtocolName, name: string, { body }: ProtocolRequest): boolean {
  const { operations, needsStream }: Protocol = PROTOCOLS[protocol]
  if (needsStream === false) return false
  const { idempotent, responses } = operations[name] as Operation
  return idempotent && responses[200]?.stream === 'event-stream' && !(isFields(body) && body.background === true)
}

type Handler = (request: ProtocolRequest) => Answer | Promise<Answer>
