import type { Digest } from '@berth/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyRequest, parseIdempotencyKey, type RequestIdentity } from './keyed-request.ts'

/** Hashes to the text itself, so that what is hashed can be compared. */
const transparent = { sha256: (text: string) => text } as Digest

const visibleAscii = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) })
const nearlyKey = fc.string({ unit: fc.constantFrom('"', '\\', 'a', 'Z', '9', ' ', 'é', '\t'), maxLength: 12 })

const parsed = (header: string): string | undefined => {
  try {
    return parseIdempotencyKey(header)
  } catch (error) {
    expect(error).toMatchObject({ kind: 'idempotency-key-invalid' })
    return undefined
  }
}

/** Reads the string of RFC 8941 section 4.2.5 one character at a time. */
function unquoted(header: string): string | undefined {
  let key = ''
  for (let index = 1; index < header.length; index++) {
    const char = header.charAt(index)
    if (char === '"') return index === header.length - 1 ? key : undefined
    if (char !== '\\') {
      key += char
      continue
    }
    index++
    const escaped = header.charAt(index)
    if (escaped !== '"' && escaped !== '\\') return undefined
    key += escaped
  }
  return undefined
}

const quoted = (key: string) => `"${key.replace(/["\\]/g, '\\$&')}"`

describe('parseIdempotencyKey', () => {
  it.each([
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    [String.raw`a\b`, String.raw`a\b`],
    ['"', '"'],
    ['"open', '"open'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ])('reads %j', (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key)
  })

  it.each([
    [''],
    ['""'],
    ['two words'],
    ['"two words"'],
    ['é'],
    ['a\u007f'],
    ['x'.repeat(256)],
    [`"${'x'.repeat(256)}"`],
    ['"a"b"'],
    [String.raw`"a\b"`],
    [String.raw`"a\"`],
    [String.raw`"\\""`],
    [String.raw`"\\\"`],
  ])('refuses %j', (header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining({ kind: 'idempotency-key-invalid' }))
  })

  it('reads a key the same bare and in quotes', () => {
    fc.assert(
      fc.property(visibleAscii, (key) => {
        fc.pre(key.length >= 1 && key.length <= 255)

        expect(parseIdempotencyKey(quoted(key))).toBe(key)
        if (!(key.startsWith('"') && key.endsWith('"') && key.length > 1)) expect(parseIdempotencyKey(key)).toBe(key)
      }),
    )
  })

  it('reads exactly the quoted strings of RFC 8941 that hold visible characters', () => {
    fc.assert(
      fc.property(nearlyKey, (inner) => {
        const key = unquoted(`"${inner}"`)

        expect(parsed(`"${inner}"`)).toBe(key !== undefined && /^[!-~]{1,255}$/.test(key) ? key : undefined)
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('keyRequest', () => {
  const request: RequestIdentity = {
    subject: 'alice',
    method: 'POST',
    path: '/v1/agents/echo/run',
    query: [
      ['b', '1'],
      ['a', '2'],
      ['a', '1'],
    ],
    body: { input: { x: 1, y: [2] }, userId: 'u' },
  }
  const keyed = (over: Partial<RequestIdentity> = {}, key = 'k') =>
    keyRequest(transparent, { ...request, ...over }, key)

  it('does not care for the order of the query and of members', () => {
    const same = keyed({
      query: [...request.query].reverse(),
      body: { userId: 'u', input: { y: [2], x: 1 } },
    })

    expect(same).toEqual(keyed())
  })

  it.each<[string, Partial<RequestIdentity>]>([
    ['path', { path: '/v1/agents/other/run' }],
    ['a query value', { query: [['a', '1']] }],
    ['a repeated query pair', { query: [...request.query, ['b', '1']] }],
    ['a body member', { body: { input: { x: 1, y: [3] }, userId: 'u' } }],
    ['the order of a list', { body: { input: { x: 1, y: [2, 2] }, userId: 'u' } }],
    ['no body', { body: undefined }],
    ['a null body', { body: null }],
  ])('has another fingerprint with another %s', (_, over) => {
    expect(keyed(over).fingerprint).not.toBe(keyed().fingerprint)
  })

  it('tells no body from a null body', () => {
    expect(keyed({ body: undefined }).fingerprint).not.toBe(keyed({ body: null }).fingerprint)
  })

  it('has the same id whatever query and body are, and another one for every other caller, route and key', () => {
    expect(keyed({ query: [], body: 1 }).id).toBe(keyed().id)
    const identity = fc.record({ subject: fc.string(), method: fc.string(), path: fc.string(), key: fc.string() })
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b)

        expect(keyed(a, a.key).id === keyed(b, b.key).id).toBe(isSame)
      }),
    )
  })

  it('tells any two queries apart that are not each other in another order', () => {
    const query = fc.array(fc.tuple(fc.constantFrom('a', 'b', '"'), fc.constantFrom('', 'x', ',')), { maxLength: 3 })
    const sorted = (pairs: ReadonlyArray<readonly [string, string]>) =>
      JSON.stringify(pairs.map((pair) => JSON.stringify(pair)).sort())
    fc.assert(
      fc.property(query, query, (a, b) => {
        expect(keyed({ query: a }).fingerprint === keyed({ query: b }).fingerprint).toBe(sorted(a) === sorted(b))
      }),
      { numRuns: 1_000 },
    )
  })
})
