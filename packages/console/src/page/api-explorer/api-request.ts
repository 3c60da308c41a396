import { type ApiRequest, quoted } from '../client/curl.ts'
import type { ListedOperation } from './api-document.ts'

/** What the reader has entered; empty fields are not sent. */
export interface ApiInput {
  /** The parameters by name. */
  readonly values: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The chosen media type of the answer. */
  readonly accept: string
}

type Callable = Pick<ListedOperation, 'method' | 'path' | 'parameters'>

/** @throws Error that names a required parameter without a value */
export function checkRequired({ parameters }: Pick<Callable, 'parameters'>, values: ApiInput['values']): void {
  const missing = parameters.find(({ name, required }) => required === true && !values[name])
  if (missing !== undefined) throw new Error(`${missing.name} is required`)
}

/** The request of an operation. A parameter of the path without a value stays as it is in the path. */
export function requestOf(operation: Callable, { values, body, accept }: ApiInput, apiUrl: string): ApiRequest {
  const sentAs = (place: string) =>
    Object.fromEntries(
      operation.parameters.flatMap(({ name, in: where }) => {
        const value = values[name] ?? ''
        return where === place && value !== '' ? [[name, value]] : []
      }),
    )
  const inPath = sentAs('path')
  const path = operation.path.replace(
    /\{(\w+)\}/g,
    (given, name: string) => encodeURIComponent(inPath[name] ?? '') || given,
  )
  const query = new URLSearchParams(sentAs('query'))
  return {
    method: operation.method,
    url: `${apiUrl}${path}${query.size === 0 ? '' : `?${query}`}`,
    headers: { Accept: accept, ...(body === undefined ? {} : JSON_BODY), ...sentAs('header') },
    ...(body === undefined ? {} : { body }),
  }
}

const JSON_BODY = { 'Content-Type': 'application/json' } as const

export const fetchCode = ({ url, method, headers, body }: ApiRequest): string =>
  `await fetch(${JSON.stringify(url)}, ${JSON.stringify(
    { method, headers: { Authorization: 'Bearer <token>', ...headers }, ...(body === undefined ? {} : { body }) },
    undefined,
    2,
  )})`

export const commandOf = (operationId: string, { values, body }: Pick<ApiInput, 'values' | 'body'>): string =>
  [
    `perdure api ${operationId}`,
    ...Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : ['-f', quoted(`${name}=${value}`)])),
    ...(body === undefined ? [] : [`--input ${quoted(body)}`]),
  ].join(' ')
