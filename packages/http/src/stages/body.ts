import { AppError } from '@perdure/ports'
import { readBody } from '../read-body.ts'
import type { RequestHead } from '../request-head.ts'
import { parseStrictJson } from '../strict-json.ts'
import { validate } from '../validate.ts'
import type { CreateStage } from './stage.ts'

/** Reads and validates what the client sent: the query, then the body. A missing body is an empty object. */
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
    if (names.has(name)) throw new AppError('validation-failed', { message: `query.${name}: given more than once` })
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
