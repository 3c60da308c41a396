import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PATTERNS } from './redaction-patterns.ts'
import { sanitizeText, sanitizeValue } from './sanitize.ts'

const KEY = `-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----`

/** Searches the whole text with every pattern. */
function searchWithPatterns(text: string, policy: string) {
  const found: string[] = []
  let clean = text
  for (const { rule, regex, replacement } of PATTERNS) {
    const mark = policy === 'strip' ? replacement.replace(/\[.*\]/, '') : replacement
    clean = clean.replace(regex, (_, ...groups) => {
      found.push(rule)
      return mark.replace(/\$(\d)/g, (__, index) => groups[Number(index) - 1])
    })
  }
  return { clean, found }
}

const EMAIL = /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])/g

const sanitizeEmails = (text: string, policy: string) =>
  text.replace(EMAIL, policy === 'strip' ? '' : '[redacted:email]')

describe('sanitizeText', () => {
  it.each([
    ['mail bob.smith+x@example.co.uk now', 'mail [redacted:email] now'],
    ['a@b and @c and d@', 'a@b and @c and d@'],
    [`${'p'.repeat(66)}@example.com`, 'pp[redacted:email]'],
    [`key:\n${KEY}\nend`, 'key:\n[redacted:private-key]\nend'],
    ['-----BEGIN PRIVATE KEY-----\ncut off', '[redacted:private-key]'],
    ['Authorization: Bearer abcdefgh12345678', 'Authorization: Bearer [redacted:bearer]'],
    ['use sk-proj-abcdefghijkl1234 here', 'use [redacted:credential] here'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted:credential]'],
    ['password = "hunter22"', 'password = "[redacted:credential]"'],
    ['{"api_key":"abcd1234"}', '{"api_key":"[redacted:credential]"}'],
    ['postgres://app:s3cret@db.local/main', 'postgres://[redacted:connection-string]@db.local/main'],
    [`perdure_live_v1_${'a'.repeat(49)}`, '[redacted:credential]'],
    ['the token is spent, the secret garden', 'the token is spent, the secret garden'],
  ])('turns %j into %j', (text, expected) => {
    expect(sanitizeText(text)).toBe(expected)
  })

  it.each([
    ['a@b.cc', '[redacted:email]'],
    ['ab://:x@', 'ab://[redacted:connection-string]@'],
    ['pwd=abcd', 'pwd=[redacted:credential]'],
    ['Basic abcdefgh', 'Basic [redacted:bearer]'],
    ['sk_abcdefghijkl', '[redacted:credential]'],
    ['AKIAabcdefghijkl', '[redacted:credential]'],
    ['AIzaabcdefghijkl', '[redacted:credential]'],
    ['ASIAabcdefghijkl', '[redacted:credential]'],
    ['-----BEGIN PRIVATE KEY-----', '[redacted:private-key]'],
    [`${'a'.repeat(21)}://u:p@`, `${'a'.repeat(21)}://[redacted:connection-string]@`],
    [`${'a'.repeat(22)}://u:p@`, `${'a'.repeat(22)}://u:p@`],
  ])('finds the shortest match of each rule: %s', (text, expected) => {
    expect(sanitizeText(text)).toBe(expected)
  })

  it('finds what the patterns find, wherever a match starts', () => {
    const atoms = fc.constantFrom(
      ...[
        '://',
        'http',
        'a',
        'b9',
        '+',
        '.',
        ':',
        '@',
        '/',
        '"',
        ' ',
        '\t',
        'u:p',
        '://u:p@',
        'x'.repeat(20),
        '1a',
        '_',
      ],
      ...['p'.repeat(128), 'ſ', 'K', '🚢', 'Bearer ', 'basic', 'sk-abcdefghijkl', 'AKIA', 'token=', 'pwd', 'abcd', KEY],
    )
    const texts = fc.array(atoms, { maxLength: 14 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(texts, fc.constantFrom('redact', 'strip'), (text, policy) => {
        const found: string[] = []
        const onDrop = (rule: string) => found.push(rule)
        const clean = sanitizeText(text, { policy, onDrop })
        const searched = searchWithPatterns(text, policy)

        expect(clean).toBe(sanitizeEmails(searched.clean, policy))
        expect(found.filter((rule) => rule !== 'email')).toEqual(searched.found)
      }),
      { numRuns: 3_000 },
    )
  })

  it('reports the rule of each match', () => {
    const dropped: string[] = []

    sanitizeText('a@example.com b@example.com Bearer abcdefgh1', { onDrop: (rule) => dropped.push(rule) })

    expect(dropped).toEqual(['bearer', 'email', 'email'])
  })

  it('does not change its own output', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a@example.com', 'password: hunter22', 'x', ' ', KEY, 'Bearer abcdefghij')),
        (parts) => {
          const once = sanitizeText(parts.join(' '))
          expect(sanitizeText(once)).toBe(once)
        },
      ),
    )
  })

  it.each([
    ['a.'],
    ['@'],
    ['a@'],
    ['a@a.'],
    ['-----BEGIN PRIVATE KEY-----'],
    ['token '],
    ['a:'],
    ['a://:'],
    ['bearer '],
    ['sk-'],
    ['http://a:'],
  ])('sanitizes 1 MiB of repeated %j in linear time', (unit) => {
    const text = unit.repeat(Math.ceil(2 ** 20 / unit.length))

    // A pattern that takes more than linear time would exceed the timeout of the test.
    expect(sanitizeText(sanitizeText(text))).toBe(sanitizeText(text))
  })

  it.each([
    ['redact', 'mail [redacted:email], Bearer [redacted:bearer]'],
    ['strip', 'mail , Bearer '],
    ['pass', 'mail bob@example.com, Bearer abcdefgh12'],
  ] as const)('applies the policy %s', (policy, expected) => {
    const dropped: string[] = []
    const onDrop = (rule: string) => dropped.push(rule)

    expect(sanitizeText('mail bob@example.com, Bearer abcdefgh12', { policy, onDrop })).toBe(expected)
    expect(dropped).toEqual(policy === 'pass' ? [] : ['bearer', 'email'])
  })
})

describe('sanitizeValue', () => {
  it('sanitizes every string in a value and leaves the rest unchanged', () => {
    const value = { text: 'a@example.com', list: [1, null, true, 'b@example.com'], 'c@example.com': {} }

    expect(sanitizeValue(value)).toEqual({
      text: '[redacted:email]',
      list: [1, null, true, '[redacted:email]'],
      '[redacted:email]': {},
    })
  })
})
