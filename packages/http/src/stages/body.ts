import { AppError } from '@perdure/ports'
import { readBody } from '../request/read-body.ts'
import type { RequestHead } from '../request/request-head.ts'
import { parseStrictJson } from '../request/strict-json.ts'
import { validate } from '../request/validate.ts'
import type { CreateStage } from './stage.ts'

/** Validates the query, then reads and validates the body. A missing body counts as an empty object. */
export const createBody: CreateStage =
  ({ config }) =>
  async (exchange) => {
    const { head, route } = exchange
    if (route === undefined) return undefined
    const { operation } = route.mounted
    exchange.query = validate(operation.query, readQuery(head.search), 'query')
    if (operation.method === 'GET') return undefined

    const bytes = await readBody(exchange, config.bodyLimitBytes)
    exchange.json = bytes.byteLength === 0 ? {} : parseBody(head, bytes)
    exchange.body = validate(operation.body, exchange.json, 'body')
    return undefined
  }

function readQuery(search: string): Record<string, string> {
  if (search === '') return {}
  const entries = [...new URLSearchParams(search)]
  const names = new Set<string>()
  for (const [name] of entries) {
    if (names.has(name)) throw new AppError('validation-failed', { message: `query.${name}: sent more than once` })
    names.add(name)
  }
  return Object.fromEntries(entries)
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i

function parseBody({ header }: RequestHead, bytes: Uint8Array): unknown {
  const encoding = header('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported-media-type', { hint: 'send the body without Content-Encoding' })
  }
  if (!JSON_TYPE.test(header('content-type')?.trim() ?? '')) {
    throw new AppError('unsupported-media-type', { hint: 'send Content-Type: application/json' })
  }
  return parseStrictJson(bytes)
}
