import { type AgUi, type AgUiDeps, createAgUi } from './ag-ui/create-ag-ui.ts'
import { type Chats, type ChatsDeps, createChats } from './ai-sdk/chats.ts'
import { createMcpServer, type McpServer, type McpServerDeps } from './mcp/mcp-server.ts'
import { createOpenAi, type OpenAi } from './openai/create-openai.ts'
import type { OpenAiDeps } from './openai/openai-call.ts'

/** The use cases of the protocols, one member for each protocol. */
export interface Interop {
  readonly chats: Chats
  readonly agUi: AgUi
  readonly openAi: OpenAi
  readonly mcpServer: McpServer
}

/** What the server gives to the protocols. */
export type InteropDeps = ChatsDeps & AgUiDeps & OpenAiDeps & McpServerDeps

export const createInterop = (deps: InteropDeps): Interop => ({
  chats: createChats(deps),
  agUi: createAgUi(deps),
  openAi: createOpenAi(deps),
  mcpServer: createMcpServer(deps),
})
