import { MAX_JSON_DEPTH } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../perdure-error.ts'
import { jsonOrText, parseStrictJson } from './strict-json.ts'

const RUNS = Number(process.env.PROPERTY_RUNS ?? 10_000)

const parse = (text: string) => parseStrictJson(new TextEncoder().encode(text))

function problemOf(bytes: Uint8Array): string | undefined {
  try {
    parseStrictJson(bytes)
    return undefined
  } catch (error) {
    if (isRefusal(error) && error.code === 'invalid-json') return error.message
    throw error
  }
}

const problem = (text: string) => problemOf(new TextEncoder().encode(text))
function millisecondsOf(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('parseStrictJson', () => {
  it('parses every kind of value', () => {
    const text = ' {"a":[1,-0.5e+3,"\\u0061\\n",true,false,null,{}],"b":{"c":[]}} '

    expect(parse(text)).toEqual(JSON.parse(text))
  })

  it.each([
    ['', 'unexpected end at character 0'],
    ['{"a":1,}', 'expected a member name at character 7'],
    ['[1,]', 'unexpected character at character 3'],
    ['[1 2]', 'expected "," or "]" at character 3'],
    ['{"a":1 "b":2}', 'expected "," or "}" at character 7'],
    ['{"a" 1}', 'expected ":" at character 5'],
    ['{a:1}', 'expected a member name at character 1'],
    ['01', 'unexpected character after the document at character 1'],
    ['"a', 'unfinished string at character 0'],
    ['"\\x"', 'malformed escape at character 1'],
    ['"\t"', 'control character in a string at character 1'],
    ['{} {}', 'unexpected character after the document at character 3'],
    ['{"a":1,"b":2,"a":3}', 'duplicate member "a" at character 13'],
    ['{"a":1,"\\u0061":3}', 'duplicate member "a" at character 7'],
    ['[{"__proto__":1}]', 'member name "__proto__" is not allowed at character 2'],
    ['{"\\u005f_proto__":1}', 'member name "__proto__" is not allowed at character 1'],
    ['\ufeff{}', 'byte order mark at character 0'],
    ['{"n":1e400}', 'number too large at character 5'],
    ['[-1e309]', 'number too large at character 1'],
    ['[1,12345678901234567890]', 'integer beyond 2^53-1 (send it as a string) at character 3'],
    ['9007199254740992', 'integer beyond 2^53-1 (send it as a string) at character 0'],
    ['-9007199254740992', 'integer beyond 2^53-1 (send it as a string) at character 0'],
    ['9007199254740993.0', 'integer beyond 2^53-1 (send it as a string) at character 0'],
    ['12345678901234567891e0', 'integer beyond 2^53-1 (send it as a string) at character 0'],
    ['"\\ud800"', 'lone surrogate at character 1'],
    ['"a\\uDFFFb"', 'lone surrogate at character 2'],
    ['"\\ud800\\u0041"', 'lone surrogate at character 1'],
    ['"\\ud83d\\ud83d\\ude00"', 'lone surrogate at character 1'],
    ['{"\\udead":1}', 'lone surrogate at character 2'],
  ])('rejects %j with the problem and its position', (text, message) => {
    expect(problem(text)).toBe(message)
  })

  it.each([
    '9007199254740991',
    '-9007199254740991',
    '0.12345678901234567890',
    '6.02214076e23',
    '-1E+21',
    '1.7976931348623157e308',
    '"\\ud83d\\ude00 \\uFFFD"',
  ])('parses %s without changing it', (text) => {
    expect(parse(text)).toBe(JSON.parse(text))
  })

  it('never parses two different integers as the same number', () => {
    const digits = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
    const form = fc.constantFrom('', '.0', 'e0', '.00E+0')
    fc.assert(
      fc.property(digits, fc.integer({ min: 1, max: 2_000 }), form, (n, step, end) => {
        const [one, other] = [`${n}${end}`, `${n + BigInt(step)}${end}`]
        if (problem(one) !== undefined || problem(other) !== undefined) return
        expect(parse(one)).not.toBe(parse(other))
      }),
    )
  })

  it('allows the same name in different objects', () => {
    expect(parse('[{"a":1},{"a":{"a":2}}]')).toEqual([{ a: 1 }, { a: { a: 2 } }])
  })

  it('accepts a nesting depth of 64 and rejects 65', () => {
    expect(problem(nested(MAX_JSON_DEPTH))).toBeUndefined()
    expect(problem(nested(MAX_JSON_DEPTH + 1))).toBe('nesting deeper than 64 at character 64')
  })

  it('rejects a megabyte of open brackets without recursion', () => {
    expect(problem('['.repeat(1_000_000))).toContain('nesting deeper than 64')
  })

  it('parses a one-megabyte string, a one-megabyte number and an object with 19,997 members', () => {
    const members = Array.from({ length: 19_997 }, (_, n) => `"k${n}":${n}`).join(',')
    const text = `{"s":"${'x'.repeat(1_000_000)}","n":0.${'1'.repeat(1_000_000)},"o":{${members}}}`

    expect(parse(text)).toEqual(JSON.parse(text))
  })

  const list = (item: (index: number) => string, length: number) => `[${Array.from({ length }, (_, n) => item(n))}]`

  it.each([
    ['members', (n: number) => `{${Array.from({ length: n }, (_, index) => `"k${index}":[]`)}}`],
    ['members of objects in an array, together with these objects', (n: number) => list(() => '{"x":1}', n / 2)],
    ['objects in an array', (n: number) => list(() => '{}', n)],
    ['arrays in arrays', (n: number) => list(() => '[[]]', n / 2)],
  ])('accepts 20,000 %s and rejects more', (_, document) => {
    expect(problem(document(20_000))).toBeUndefined()
    expect(problem(document(20_002))).toMatch(/^more than 20000 members at character \d+$/)
  })

  it.each([
    ['numbers', '1.5'],
    ['strings', '"x"'],
    ['literals', 'true'],
  ])('accepts an array with 99,999 %s and rejects more', (_, item) => {
    expect(problem(list(() => item, 99_999))).toBeUndefined()
    expect(problem(list(() => item, 100_000))).toMatch(/^more than 100000 values at character \d+$/)
  })

  it('tells how many members to send', () => {
    expect(() => parse(list(() => '{}', 30_000))).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^send at most 20000 members and 100000 values: /) }),
    )
  })

  it.each([
    ['empty objects', () => '{}'],
    ['members', (n: number) => `{"${n}":${n}}`],
    ['one-digit numbers', () => '1'],
    ['numbers beyond 2^53', () => '1e300'],
  ])('stops early in one megabyte of %s', (_, item) => {
    const whole = list(item, Math.floor(1_048_576 / (item(100_000).length + 1)))
    const bytes = new TextEncoder().encode(whole)
    // The fastest of several runs is the cost of the work; the others include the load of the machine.
    const fastest = Math.min(...Array.from({ length: 5 }, () => millisecondsOf(() => problemOf(bytes))))

    expect(problemOf(bytes)).toMatch(/^more than /)
    expect(fastest).toBeLessThan(150)
  })

  it('rejects bytes that are not UTF-8', () => {
    expect(problemOf(Uint8Array.from([0x22, 0xc3, 0x28, 0x22]))).toBe('the body is not UTF-8')
  })

  it('returns the same value as JSON.parse for every document that it accepts', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value)
        const said = problem(text)
        fc.pre(!isStricter(said))
        expect(said).toBeUndefined()
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: RUNS },
    )
  })

  it('accepts a damaged document exactly when JSON.parse does', () => {
    const damage = fc.record({
      text: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
      at: fc.nat(),
      cut: fc.nat({ max: 2 }),
      insert: fc.constantFrom(
        '',
        ',',
        '"',
        ':',
        '[',
        ']',
        '{',
        '}',
        '0',
        '-',
        '.',
        'e',
        '\\',
        ' ',
        '\n',
        'true',
        '\u0001',
        '\\ud800',
        '9007199254740993',
        'e999',
      ),
    })
    fc.assert(
      fc.property(damage, ({ text, at, cut, insert }) => {
        const index = at % (text.length + 1)
        const damaged = text.slice(0, index) + insert + text.slice(index + cut)
        const said = problem(damaged)
        fc.pre(!isStricter(said))
        expect(said === undefined).toBe(isJson(damaged))
        if (said === undefined) expect(parse(damaged)).toEqual(JSON.parse(damaged))
      }),
      { numRuns: RUNS },
    )
  })

  it('accepts a random sequence of JSON tokens exactly when JSON.parse does', () => {
    const pieces = [
      ...'[]{}:,',
      ' ',
      '\t',
      '"a"',
      '"b"',
      '""',
      '"\\u00e9"',
      '"\\',
      'é',
      '1',
      '-0',
      '0.5',
      '1e3',
      '01',
      '-',
    ]
    const soup = fc.array(fc.constantFrom(...pieces, 'true', 'null', '{"a":', '[1,'), { maxLength: 8 })
    fc.assert(
      fc.property(soup, (chosen) => {
        const text = chosen.join('')
        const said = problem(text)
        fc.pre(!isStricter(said))
        expect(said === undefined, text).toBe(isJson(text))
        if (said === undefined) expect(parse(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: RUNS },
    )
  })

  it('names one of its stricter rules when it rejects a document that JSON.parse accepts', () => {
    const rules = ['{"a":1,"a":2}', '{"__proto__":1}', '[1e999]', '[9007199254740993]', '["\\ud800"]', '{"\\udc00":1}']
    const around = fc.constantFrom<(inner: string) => string>(
      (inner) => inner,
      (inner) => `[${inner}]`,
      (inner) => `{"x":${inner},"y":[]}`,
      (inner) => ` [null , ${inner} ] `,
    )
    fc.assert(
      fc.property(fc.constantFrom(...rules), fc.array(around, { maxLength: 6 }), (rule, wrappers) => {
        const text = wrappers.reduce((inner, wrap) => wrap(inner), rule)
        expect(isJson(text)).toBe(true)
        expect(isStricter(problem(text)), text).toBe(true)
      }),
    )
  })

  it('rejects bytes exactly when they are not UTF-8 or not JSON', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc.json().map((text) => new TextEncoder().encode(text)),
    )
    fc.assert(
      fc.property(bytes, fc.nat(), fc.nat({ max: 255 }), (whole, at, byte) => {
        const damaged = Uint8Array.from(whole)
        if (damaged.length > 0) damaged[at % damaged.length] = byte
        const said = problemOf(damaged)
        fc.pre(!isStricter(said) && said?.startsWith('byte order mark') !== true)
        expect(said === undefined).toBe(isUtf8(damaged) && isJson(new TextDecoder().decode(damaged)))
      }),
      { numRuns: RUNS },
    )
  })
})

/** Whether JSON.parse accepts a document with this problem. */
const isStricter = (said: string | undefined) =>
  said !== undefined && /^(duplicate|member name|number too large|integer beyond|lone surrogate)/.test(said)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

describe('jsonOrText', () => {
  it.each([
    ['{"a":[1]}', { a: [1] }],
    ['a plain answer', 'a plain answer'],
    ['{"a":', '{"a":'],
    ['', ''],
  ])('returns the value of %s', (text, value) => {
    expect(jsonOrText(text)).toEqual(value)
  })

  it.each([
    ['the name __proto__', '{"__proto__":{"isAdmin":true}}'],
    ['a name twice', '{"a":1,"a":2}'],
    ['deep nesting', `${'['.repeat(3_000)}${']'.repeat(3_000)}`],
    ['nesting that overflows the stack of a parser', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ])('refuses JSON with %s', (_, text) => {
    expect(() => jsonOrText(text)).toThrow(expect.objectContaining({ code: 'invalid-json' }))
  })
})
