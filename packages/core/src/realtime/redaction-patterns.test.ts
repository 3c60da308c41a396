import { describe, expect, it } from 'vitest'
import { PATTERNS } from './redaction-patterns.ts'

interface Atom {
  readonly text: string
  readonly isGroup: boolean
  readonly max: number
  /** Whether this is the last atom of the pattern that consumes characters. */
  readonly isLast: boolean
}

const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:)|\{(\d+)(,(\d*))?\}\??|[*+?]\??|[\s\S]/g

/** Every atom that the pattern repeats. Understands only the syntax that the patterns use. */
function repeatedAtoms(source: string): readonly Atom[] {
  const tokens = [...source.matchAll(TOKEN)]
  return tokens.flatMap((token, index) => {
    const [text, low, comma, high] = token
    if (!/^(?:[*+?]|\{\d)/.test(text)) return []
    const before = tokens[index - 1]?.[0] ?? ''
    const unbounded = /^[*+]/.test(text) || (comma !== undefined && high === '')
    const max = unbounded ? Number.POSITIVE_INFINITY : text.startsWith('?') ? 1 : Number(high ?? low)
    return [{ text: before + text, isGroup: before === ')', max, isLast: index === tokens.length - 1 }]
  })
}

const UP_TO_THE_END_OF_THE_TEXT = /\[\\s\\S\]\*\?\(\?:[^()]*\|\$\)$/

describe('PATTERNS', () => {
  it.each(PATTERNS.map(({ rule, regex }) => [rule, regex.source]))('matches %s in linear time: %s', (_, source) => {
    const atoms = repeatedAtoms(source.replace(UP_TO_THE_END_OF_THE_TEXT, ''))

    expect(atoms.length).toBeGreaterThan(0)
    for (const { text, isGroup, max, isLast } of atoms) {
      expect(isGroup && max > 1, `${text} repeats a group`).toBe(false)
      expect(max === Number.POSITIVE_INFINITY && !isLast, `${text} is unbounded in the middle`).toBe(false)
    }
  })

  it.each(['(a+)+b', '(a|b){2,}', 'a+b', 'a{3,}b', '[ab]*c*', '\\w+@'])('may not contain %s (not linear)', (source) => {
    const isBad = ({ isGroup, max, isLast }: Atom) =>
      (isGroup && max > 1) || (max === Number.POSITIVE_INFINITY && !isLast)

    expect(repeatedAtoms(source).some(isBad)).toBe(true)
  })
})
