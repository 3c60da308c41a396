import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isGrantable } from './scopes.ts'
import { formatSubject, parseSubject, SUBJECTS, type SubjectName, type SubjectParams } from './subjects.ts'

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/)
const names = Object.keys(SUBJECTS) as SubjectName[]
const slotsOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)

describe('parseSubject', () => {
  it.each(names)('parses what formatSubject writes for %s', (name) => {
    const keys = slotsOf(SUBJECTS[name].pattern)
    const anyParams = fc.record(Object.fromEntries(keys.map((key) => [key, id])))

    fc.assert(
      fc.property(anyParams, (params) => {
        const text = formatSubject(name, params as SubjectParams<typeof name>)
        expect(parseSubject(text)).toEqual({ name, params })
      }),
    )
  })

  it('returns undefined or a subject that formats to the original text', () => {
    const pieces = fc.constantFrom('agent:', 'session:', 'run', '/runs/', '/events', 'memory', '*', 'a', '/', ':', ' ')
    const text = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
    )

    fc.assert(
      fc.property(text, (candidate) => {
        const subject = parseSubject(candidate)
        if (subject === undefined) return
        expect(formatSubject(subject.name, subject.params as never)).toBe(candidate)
      }),
    )
  })

  it.each([
    '',
    'agent:*/events',
    'agent:/events',
    'agent:a/b/events',
    'agent:a/events/',
    'agent:a/events\n',
    ' agent:a/events',
    'Agent:a/events',
    'agent:-a/events',
    'run:run_1/events',
    'runs/events',
    'agent:a/runs/*/events',
    'memory/#',
    `agent:${'a'.repeat(129)}/events`,
    `agent:${'a'.repeat(10_000)}/events`,
  ])('rejects %j', (text) => {
    expect(parseSubject(text)).toBeUndefined()
  })
})

describe('SUBJECTS', () => {
  it('requires grantable scopes whose ids come from the pattern of the subject', () => {
    for (const { pattern, scope } of Object.values(SUBJECTS)) {
      expect(isGrantable(scope.replace(/\{\w+\}/, 'some-id')), scope).toBe(true)
      expect(slotsOf(pattern)).toEqual(expect.arrayContaining(slotsOf(scope)))
    }
  })
})
