import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as CurrentStdio } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'

/** The official clients: the current one with and without a handshake, and the earlier one. */
export const CLIENTS = ['2.4.0', '2.4.0 auto', '1.32.2'] as const
export type ClientName = (typeof CLIENTS)[number]

export interface Elicited {
  readonly message: string
  readonly requestedSchema?: unknown
}

export interface Answered {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Record<string, string | number | boolean>
}

/** A local program that the client starts, and speaks to over stdin and stdout. */
export interface Program {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
  readonly stderr: 'inherit' | 'ignore'
}

export interface ClientOptions {
  /** The server. */
  readonly url: string | Program
  readonly token?: string | undefined
  /** Answers the questions of the server; a client without it declares that it cannot be asked. */
  readonly elicit?: ((asked: Elicited) => Answered | Promise<Answered>) | undefined
}

export interface CallOptions {
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string }) => void
  readonly timeout?: number
  readonly resetTimeoutOnProgress?: boolean
}

export interface CallResult {
  readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
  readonly _meta?: Record<string, unknown>
}

export interface McpClient {
  tools(): Promise<
    ReadonlyArray<{ readonly name: string; readonly description?: string; readonly inputSchema: object }>
  >
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallResult>
  close(): Promise<void>
}

const INFO = { name: 'e2e', version: '1.0.0' }

/** Connects an official client, which the end of the test closes. */
export async function connect(name: ClientName, options: ClientOptions): Promise<McpClient> {
  const client =
    name === '1.32.2' ? await earlier(options) : await current(options, name === '2.4.0 auto' ? 'auto' : 'legacy')
  onTestFinished(() => client.close())
  return client
}

const headersOf = ({ token }: ClientOptions): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

const currentTransport = (options: ClientOptions) =>
  typeof options.url === 'string'
    ? new CurrentTransport(new URL(options.url), { requestInit: { headers: headersOf(options) } })
    : new CurrentStdio(options.url)

const earlierTransport = (options: ClientOptions) =>
  typeof options.url === 'string'
    ? new EarlierTransport(new URL(options.url), { requestInit: { headers: headersOf(options) } })
    : new EarlierStdio(options.url)

async function current(options: ClientOptions, mode: 'auto' | 'legacy'): Promise<McpClient> {
  const { elicit } = options
  const capabilities = elicit === undefined ? {} : { elicitation: { form: {} } }
  const client = new CurrentClient(INFO, { capabilities, versionNegotiation: { mode } })
  if (elicit !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await elicit(params as Elicited)) }))
  }
  await client.connect(currentTransport(options))
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, more = {}) =>
      (await client.callTool({ name, arguments: args }, more)) as unknown as CallResult,
    close: () => client.close(),
  }
}

async function earlier(options: ClientOptions): Promise<McpClient> {
  const { elicit } = options
  const client = new EarlierClient(INFO, { capabilities: elicit === undefined ? {} : { elicitation: {} } })
  if (elicit !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await elicit(params as Elicited)) }))
  }
  await client.connect(earlierTransport(options))
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, more = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, more)) as unknown as CallResult,
    close: () => client.close(),
  }
}
