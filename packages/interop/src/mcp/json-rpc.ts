import { isFields } from '@perdure/core'
import { utf8Length } from '@perdure/ports'

export type RpcId = string | number

/** A JSON-RPC message whose members are known only as far as they were checked. */
export interface RpcMessage {
  readonly jsonrpc: '2.0'
  readonly id?: RpcId | null | undefined
  readonly method?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly result?: unknown
  readonly error?: unknown
}

export interface RpcRequest extends RpcMessage {
  readonly id: RpcId
  readonly method: string
}

export const isRequest = (message: RpcMessage): message is RpcRequest =>
  typeof message.method === 'string' && message.id !== undefined && message.id !== null

export const RPC_ERRORS = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** An error response of the protocol, with its HTTP status. */
export interface RpcRefusal {
  readonly code: number
  readonly message: string
  readonly data?: unknown
  readonly status: number
}

export const invalidParams = (message: string, status = 200): RpcRefusal => ({
  code: RPC_ERRORS.invalidParams,
  message,
  status,
})

export const isRpcRefusal = (value: object): value is RpcRefusal => 'code' in value && 'status' in value

const HEADERS = { 'Content-Type': 'application/json; charset=utf-8' }

/** A complete HTTP answer. */
export interface RpcAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
}

export function rpcAnswer(message: object, status = 200, headers: Readonly<Record<string, string>> = {}): RpcAnswer {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message })
  return { status, headers: { ...HEADERS, 'Content-Length': String(utf8Length(text)), ...headers }, text }
}

export const refusalAnswer = (id: RpcId, { code, message, data, status }: RpcRefusal): RpcAnswer =>
  rpcAnswer({ id, error: { code, message, ...(data === undefined ? {} : { data }) } }, status)

export const accepted = (): RpcAnswer => ({ status: 202, headers: {}, text: null })

/** The object under the name; an empty one if it is missing or something else. */
export const objectIn = (
  params: Readonly<Record<string, unknown>> | undefined,
  name: string,
): Readonly<Record<string, unknown>> => {
  const value = params?.[name]
  return isFields(value) ? value : {}
}
