import { perdureError } from '../perdure-error.ts'
import type { YieldTurn } from '../timers.ts'
import { beginScan, buildScanned, type JsonLimits, scan } from './json-scan.ts'

/** What a document may hold, unless it is parsed in turns. */
export const JSON_LIMITS: JsonLimits = { members: 20_000, values: 100_000, outer: 20_000 }

/**
 * Parses untrusted bytes as one JSON document. Accepts what `JSON.parse` accepts, except a byte order mark, duplicate
 * member names, the name `__proto__`, nesting deeper than 64, more than 20,000 members or 100,000 values, numbers that
 * would lose precision, and lone surrogates. The limits bound the time for which a document blocks the event loop.
 *
 * @throws PerdureError `invalid-json` with the problem and its character position
 */
export const parseStrictJson = (bytes: Uint8Array): unknown => parseStrictText(decodeUtf8(bytes))

/** Like `parseStrictJson`, for text that a client, a model or a tool has sent. @throws PerdureError `invalid-json` */
export function parseStrictText(text: string): unknown {
  scan(beginScan(text, JSON_LIMITS))
  return JSON.parse(text)
}

/** How much of a document is parsed before others get a turn. */
const TURN_CHARS = 32_768

/** A document that was parsed in turns. */
export interface ParsedInTurns {
  readonly value: unknown
  /** Whether it has more members or values than `parseStrictJson` accepts. */
  readonly isLarge: boolean
}

/**
 * Parses like `parseStrictJson`, but in turns, so that a document may hold one member for 8 bytes and one value for 4
 * bytes of `maxBytes`. At most 20,000 members may be in one object, on the first three levels, and on the next two levels of
 * each element of a list on the second level: a schema checks these in one turn.
 *
 * @throws PerdureError `invalid-json` with the problem and its character position
 */
export async function parseStrictInTurns(
  sent: Uint8Array | string,
  { maxBytes, yieldTurn }: { readonly maxBytes: number; readonly yieldTurn: YieldTurn },
): Promise<ParsedInTurns> {
  const text = typeof sent === 'string' ? sent : decodeUtf8(sent)
  const members = Math.max(JSON_LIMITS.members, Math.floor(maxBytes / 8))
  const walk = beginScan(text, {
    ...JSON_LIMITS,
    members,
    values: Math.max(JSON_LIMITS.values, Math.floor(maxBytes / 4)),
  })
  while (!scan(walk, walk.at + TURN_CHARS)) {
    buildScanned(walk)
    await yieldTurn()
  }
  const isLarge = walk.members > JSON_LIMITS.members || walk.values > JSON_LIMITS.values
  return { value: 'built' in walk ? walk.built : JSON.parse(text), isLarge }
}

/**
 * The value of a text that is JSON, and the text itself otherwise.
 *
 * @throws PerdureError `invalid-json` for JSON that `parseStrictText` refuses
 */
export function jsonOrText(text: string): unknown {
  try {
    return parseStrictText(text)
  } catch (refusal) {
    if (isJson(text)) throw refusal
    return text
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    return !(error instanceof SyntaxError)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw perdureError('invalid-json', { message: 'the body is not UTF-8' })
  }
}
