import { isRefusal, parseStrictText } from '@perdure/ports'
import {
  ClientFrame,
  type ErrorCode,
  RPC_CODES,
  RPC_METHODS,
  type RpcErrorName,
  type RpcMethod,
} from '@perdure/protocol'
import * as v from 'valibot'

export type RpcId = string | number

/** A valid request. */
export interface RpcRequest {
  readonly id: RpcId
  readonly method: RpcMethod
  readonly params: unknown
}

export interface RpcRefusal {
  /** `null` if the message had no readable id. */
  readonly id: RpcId | null
  readonly name: RpcErrorName
  readonly message: string
}

export type ReadFrame = { readonly request: RpcRequest } | { readonly refusal: RpcRefusal }

/** Parses and validates one client message. */
export function readFrame(text: string): ReadFrame {
  const json = parseJson(text)
  if (json === undefined) return refusal(null, 'parse-error', 'the message is not JSON')
  if (Array.isArray(json.value)) return refusal(null, 'invalid-request', 'batches are not supported')
  const frame = v.safeParse(ClientFrame, json.value)
  if (!frame.success) return refusal(idOf(json.value), 'invalid-request', problemOf(frame.issues[0]))
  const { id, method, params = {} } = frame.output
  if (!isMethod(method)) return refusal(id, 'method-not-found', `unknown method ${method.slice(0, 64)}`)
  const parsed = v.safeParse(RPC_METHODS[method].params, params)
  if (!parsed.success) return refusal(id, 'invalid-params', problemOf(parsed.issues[0]))
  return { request: { id, method, params: parsed.output } }
}

export const resultFrame = (id: RpcId, result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result })

export function errorFrame({ id, name, message }: RpcRefusal): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: RPC_CODES[name].code, message, data: { name } } })
}

const NAMES: Partial<Record<ErrorCode, RpcErrorName>> = {
  'auth-invalid': 'auth-invalid',
  'auth-expired': 'auth-invalid',
  'auth-revoked': 'auth-invalid',
  'auth-locked-out': 'rate-limited',
  'validation-failed': 'invalid-params',
  'scope-denied': 'scope-denied',
  'run-not-found': 'run-not-found',
  'rate-limit-exceeded': 'rate-limited',
}

/** Maps a refusal to a JSON-RPC error; any other error becomes `internal-error`. */
export function refusalOf(id: RpcId, error: unknown): RpcRefusal {
  const name = isRefusal(error) ? NAMES[error.code] : undefined
  if (name === undefined || !isRefusal(error)) {
    return { id, name: 'internal-error', message: RPC_CODES['internal-error'].summary }
  }
  return { id, name, message: error.hint === undefined ? error.message : `${error.message} (${error.hint})` }
}

const refusal = (id: RpcId | null, name: RpcErrorName, message: string): ReadFrame => ({
  refusal: { id, name, message },
})

const isMethod = (method: string): method is RpcMethod => Object.hasOwn(RPC_METHODS, method)

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseStrictText(text) }
  } catch {
    return undefined
  }
}

const RequestId = ClientFrame.entries.id

function idOf(value: unknown): RpcId | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null
  return v.is(RequestId, value.id) ? value.id : null
}

function problemOf(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue)
  return path === null ? issue.message : `${path}: ${issue.message}`
}
