import { isPlainObject } from '@perdure/protocol'

export type RpcId = string | number

/** A JSON-RPC message, as far as the bridge reads it. */
export interface RpcMessage {
  readonly id?: RpcId | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: unknown
  readonly [member: string]: unknown
}

export interface RpcRequest extends RpcMessage {
  readonly id: RpcId
  readonly method: string
}

export const isRequest = (message: RpcMessage): message is RpcRequest =>
  typeof message.method === 'string' && (typeof message.id === 'string' || typeof message.id === 'number')

/** Whether the answer lasts as long as the client listens. */
export const isSubscription = ({ method }: RpcRequest): boolean => method === 'subscriptions/listen'

/** The message in a text; `undefined` if it is not a JSON object. */
export function parseMessage(text: string): RpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isPlainObject(value) ? value : {})

/** An error response that the bridge writes itself. */
export const errorMessage = (
  id: RpcId | null,
  code: number,
  message: string,
): RpcMessage & { readonly jsonrpc: '2.0' } => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
