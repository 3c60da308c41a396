import { type AgUi, type AgUiDeps, createAgUi } from './ag-ui/create-ag-ui.ts'
import { type AiSdk, type AiSdkDeps, createAiSdk } from './ai-sdk/create-ai-sdk.ts'
import { createFoldCache } from './chat/fold-cache.ts'
import { limitedStreams } from './chat/limited-streams.ts'
import { createMcpServer, type McpServer, type McpServerDeps } from './mcp/mcp-server.ts'
import { createOpenai, type Openai } from './openai/create-openai.ts'
import type { OpenaiDeps } from './openai/openai-call.ts'

/** The use cases of the protocols, one member for each protocol. */
export interface Protocols {
  readonly aiSdk: AiSdk
  readonly agUi: AgUi
  readonly openai: Openai
  readonly mcp: McpServer
}

/** What the server gives to the protocols. */
export type ProtocolsDeps = Omit<AiSdkDeps & AgUiDeps & OpenaiDeps & McpServerDeps, 'foldCache'> & {
  readonly foldCacheBytes: number
}

export function createProtocols(given: ProtocolsDeps): Protocols {
  const deps = { ...given, ...limitedStreams(given, given), foldCache: createFoldCache(given.foldCacheBytes) }
  return { aiSdk: createAiSdk(deps), agUi: createAgUi(deps), openai: createOpenai(deps), mcp: createMcpServer(deps) }
}
