import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { memberOf } from '../documented.ts'
import { SCHEMAS } from './index.ts'

const rows = Object.entries(SCHEMAS)

/** `sessionId` → `session id`. */
const wordsOf = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()

const isSentence = (text: string) => /^[A-Z0-9`].{8,}\.$/s.test(text)
const repeatsName = (name: string, text: string) =>
  [name.toLowerCase(), wordsOf(name)].includes(
    text
      .replace(/^(the|an?) /i, '')
      .replace(/\.$/, '')
      .toLowerCase(),
  )

const membersOf = (schema: v.GenericSchema) =>
  Object.entries('entries' in schema ? (schema.entries as v.ObjectEntries) : {}).map(
    ([name, entry]) => [name, memberOf(entry as v.GenericSchema)?.description ?? '', entry] as const,
  )

describe('SCHEMAS', () => {
  it.each(rows)('has an example of %s that its schema accepts', (_, { schema, example }) => {
    const { issues = [] } = v.safeParse(schema, JSON.parse(JSON.stringify(example)))
    expect(issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toEqual([])
  })

  it.each(rows)('describes %s and each of its members with a sentence', (name, { schema, description }) => {
    expect(isSentence(description), description).toBe(true)
    expect(repeatsName(name, description), description).toBe(false)
    for (const [member, text] of membersOf(schema)) {
      expect(isSentence(text), `${member}: ${text}`).toBe(true)
      expect(repeatsName(member, text), `${member}: ${text}`).toBe(false)
    }
  })

  it('says in the description of each optional member of a response when it is absent', () => {
    const responses = rows.filter(([, { schema }]) => schema.type === 'object')
    const silent = responses.flatMap(([name, { schema }]) =>
      membersOf(schema)
        .filter(([, text, { type }]) => type === 'optional' && !/Absent|Present/.test(text))
        .map(([member]) => `${name}.${member}`),
    )
    expect(responses.length).toBeGreaterThan(50)
    expect(silent).toEqual([])
  })

  it('names every schema only once', () => {
    expect(new Set(rows.map(([, { schema }]) => schema)).size).toBe(rows.length)
  })
})
