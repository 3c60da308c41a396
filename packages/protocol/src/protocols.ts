/**
 * The protocols of other software that clients may speak. A key is the name of the protocol in code, in the configuration
 * and in registrations. `dialect` is its name in folders and in the metadata of a run; `group` is the group of its
 * operations. The operations of MCP are in `mcp-server`, because `mcp` has the servers whose tools agents call.
 */
export const PROTOCOLS = {
  aiSdk: {
    dialect: 'ai-sdk',
    group: 'ai-sdk',
    mounts: 'Mount the AI SDK routes of each agent, below `/agents/:agentId/chat`.',
    summary: 'Chats of the AI SDK: `useChat` and `DefaultChatTransport` work with every agent.',
  },
  agUi: {
    dialect: 'ag-ui',
    group: 'ag-ui',
    mounts: 'Mount the AG-UI routes of each agent, below `/agents/:agentId/ag-ui`.',
    summary: 'AG-UI: `HttpAgent`, and front ends that are based on it, work with every agent.',
  },
  openai: {
    dialect: 'openai',
    group: 'openai',
    mounts: 'Mount the OpenAI routes, below `/openai`.',
    summary: 'OpenAI: the SDKs of OpenAI, and programs that are based on them, work with every agent.',
  },
  mcp: {
    dialect: 'mcp',
    group: 'mcp-server',
    mounts: 'Mount the MCP server at `/mcp`, whose tools are the agents and workflows.',
    summary: 'This server as a Model Context Protocol server whose tools are the agents and workflows.',
  },
} as const

export type ProtocolName = keyof typeof PROTOCOLS

/** The name of a protocol in folders, and in the metadata of a run. */
export type Dialect = (typeof PROTOCOLS)[ProtocolName]['dialect']

export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as readonly ProtocolName[]

/** An object with one member for each protocol. */
export const perProtocol = <Value>(memberOf: (name: ProtocolName) => Value) =>
  Object.fromEntries(PROTOCOL_NAMES.map((name) => [name, memberOf(name)])) as Readonly<Record<ProtocolName, Value>>
