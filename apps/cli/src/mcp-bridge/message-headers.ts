import { objectOf, type RpcMessage } from './rpc-message.ts'

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'

/** The members that a message of the version without a handshake repeats in the header `Mcp-Name`. */
const NAMES = ['name', 'taskId']

/** The protocol version that a message states; `undefined` for a message of a client with a handshake. */
export function statedVersion({ params }: RpcMessage): string | undefined {
  const { [VERSION_KEY]: version } = objectOf(params?._meta)
  return typeof version === 'string' ? version : undefined
}

/** The headers that the transport over HTTP demands besides the message. `session`: those of the handshake. */
export function messageHeaders(message: RpcMessage, session: Readonly<Record<string, string>>): Record<string, string> {
  const version = statedVersion(message)
  if (version === undefined || message.method === undefined) return { ...session }
  const name = NAMES.map((member) => message.params?.[member]).find((value) => typeof value === 'string')
  return {
    'MCP-Protocol-Version': encoded(version),
    'Mcp-Method': encoded(message.method),
    ...(typeof name === 'string' ? { 'Mcp-Name': encoded(name) } : {}),
  }
}

/** A value that is not visible ASCII is sent in base64. */
const encoded = (value: string): string =>
  /^[\x21-\x7e]+$/.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
