import { authorizeTarget } from '@perdure/core'
import { parseStrictInTurns, parseStrictJson, perdureError, sha256OfBytes } from '@perdure/ports'
import { namedTarget, type Operation } from '@perdure/protocol'
import type { GenericSchema } from 'valibot'
import type { Exchange } from '../exchange.ts'
import { bodyChunks } from '../request/body-chunks.ts'
import { readBody } from '../request/read-body.ts'
import { requireIdentity } from '../request/read-raw.ts'
import type { RequestHead } from '../request/request-head.ts'
import { topLevelText } from '../request/top-level-text.ts'
import { validate, validateInTurns } from '../request/validate.ts'
import type { Route } from '../router.ts'
import type { CreateStage } from './stage.ts'

/**
 * Validates the query, then reads and validates the body. A missing body counts as an empty object. An operation without
 * a handler answers 501 whatever the body holds.
 */
export const createBody: CreateStage = ({ config, receiveFile, digest, yieldTurn }) => {
  const receive = async (exchange: Exchange): Promise<void> => {
    requireIdentity(exchange.head)
    const received = await receiveFile({
      chunks: bodyChunks(exchange, config.maxFileBytes),
      mediaType: exchange.head.header('content-type'),
      owner: exchange.principal.subject,
    })
    // Identifies the content to an idempotency key.
    exchange.json = { sha256: received.sha256, size: received.size, mediaType: received.mediaType }
    exchange.received = received
  }

  const parseHistory = async (exchange: Exchange, bytes: Uint8Array, schema: Operation['body']): Promise<void> => {
    const maxBytes = config.protocolBodyLimitBytes
    const { value, isLarge } = await parseStrictInTurns(bytes, { maxBytes, yieldTurn })
    exchange.json = value
    if (isLarge) exchange.content = { sha256: sha256OfBytes(digest, bytes) }
    exchange.body = await validateInTurns(schema, value, { root: 'body', yieldTurn })
  }

  const parse = async (exchange: Exchange, { operation, protocol }: Route['mounted']): Promise<void> => {
    const { head, principal } = exchange
    const limit =
      protocol === undefined
        ? { maxBytes: config.bodyLimitBytes, field: 'server.bodyLimitBytes' }
        : { maxBytes: config.protocolBodyLimitBytes, field: 'protocols.bodyLimitBytes' }
    const bytes = await readBody(exchange, limit)
    const target = operation.targetFrom === undefined ? undefined : topLevelText(bytes, operation.targetFrom)
    // A caller without the scope costs no parsing. The scope is checked again by what the parser reads.
    if (target !== undefined) authorizeTarget(principal, namedTarget(target))
    if (bytes.byteLength > 0) requireJson(head, operation)
    if (operation.sendsHistory === true && bytes.byteLength > TURN_BYTES) {
      return parseHistory(exchange, bytes, operation.body)
    }
    exchange.json = bytes.byteLength === 0 ? {} : parseStrictJson(bytes)
    if (operation.refused !== true) exchange.body = validate(operation.body, exchange.json, 'body')
  }

  return async (exchange) => {
    const { head, route } = exchange
    if (route === undefined) return undefined
    const { operation } = route.mounted
    exchange.query = validate(operation.query, readQuery(head.search, operation.query), 'query')
    if (operation.takesFile === true) await receive(exchange)
    else if (operation.method !== 'GET' && operation.takesRaw !== true) await parse(exchange, route.mounted)
    return undefined
  }
}

/** Joins the members `metadata.<key>` of an operation that filters by metadata into the member `metadata`. */
function readQuery(search: string, schema: GenericSchema | undefined): Record<string, unknown> {
  if (search === '') return {}
  const entries = [...new URLSearchParams(search)]
  const names = new Set<string>()
  for (const [name] of entries) {
    if (names.has(name)) throw perdureError('validation-failed', { message: `query.${name}: sent more than once` })
    names.add(name)
  }
  const isMetadata = ([name]: readonly [string, string]) => name.startsWith(METADATA) && hasMetadata(schema)
  const metadata = entries.filter(isMetadata).map(([name, value]) => [name.slice(METADATA.length), value])
  const others = Object.fromEntries(entries.filter((entry) => !isMetadata(entry)))
  return metadata.length === 0 ? others : { ...others, metadata: Object.fromEntries(metadata) }
}

const METADATA = 'metadata.'

const hasMetadata = (schema: GenericSchema | undefined): boolean =>
  schema !== undefined && 'entries' in schema && 'metadata' in (schema.entries as object)

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i

const TEXT_TYPE = /^text\/plain\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i

/** A shorter body is parsed and validated in one turn. */
const TURN_BYTES = 65_536

function requireJson(head: RequestHead, { acceptsText }: Pick<Operation, 'acceptsText'>): void {
  const { header } = head
  requireIdentity(head)
  const mediaType = header('content-type')?.trim() ?? ''
  if (!JSON_TYPE.test(mediaType) && !(acceptsText === true && TEXT_TYPE.test(mediaType))) {
    throw perdureError('unsupported-media-type', { hint: 'send Content-Type: application/json' })
  }
}
