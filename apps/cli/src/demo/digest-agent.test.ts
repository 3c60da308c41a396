import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runAgent } from '../../test/run-agent.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { type Digest, digestAgent } from './digest-agent.ts'

const TEXT =
  'Perdure keeps every run in a log. The log survives a crash of the server. A client resumes reading the log where it stopped. It was sunny.'

describe('digestAgent', () => {
  const dir = temporaryDir()
  const agent = () => digestAgent({ baseDir: dir() })
  const digest = async (input: unknown) => (await runAgent(agent(), input)).result as Digest

  it('reports progress, streams the summary and returns the digest', async () => {
    const { events, result } = await runAgent(agent(), { text: TEXT, sentences: 2 })
    const { summary, sentences, ...facts } = result as Digest
    const deltas = events
      .filter(({ type }) => type === 'text.delta')
      .map(({ payload }) => (payload as { delta: string }).delta)

    expect(events.filter(({ type }) => type === 'digest.progress').map(({ payload }) => payload)).toEqual([
      { stage: 'read', done: 0, total: 3 },
      { stage: 'choose', done: 1, total: 3 },
      { stage: 'write', done: 2, total: 3 },
      { stage: 'done', done: 3, total: 3 },
    ])
    expect(deltas).toHaveLength(2)
    expect(deltas.join('')).toBe(summary)
    expect(sentences).toHaveLength(2)
    expect(sentences.every((sentence) => TEXT.includes(sentence))).toBe(true)
    expect(facts).toEqual({ words: 27, characters: TEXT.length, readingMinutes: 0.1, topTerms: expect.any(Array) })
    expect(facts.topTerms[0]).toEqual({ term: 'log', count: 3 })
  })

  it('returns the same digest for a string, { text } and { file }', async () => {
    await writeFile(join(dir(), 'notes.md'), TEXT)

    const [fromString, fromText, fromFile] = [
      await digest(TEXT),
      await digest({ text: TEXT }),
      await digest({ file: 'notes.md' }),
    ]
    expect(fromText).toEqual(fromString)
    expect(fromFile).toEqual(fromString)
  })

  it('removes line breaks from the summary', async () => {
    expect((await digest('The log survives\na crash.')).summary).toBe('The log survives a crash.')
  })

  it('fails with a code for an empty document and for one outside the folder', async () => {
    await writeFile(join(dir(), 'empty.md'), ' \n')

    await expect(digest({ file: 'empty.md' })).rejects.toMatchObject({ code: 'empty-text' })
    await expect(digest({ file: '../x.md' })).rejects.toMatchObject({ code: 'file-not-allowed' })
  })

  it.each([
    [''],
    ['  \n'],
    [{ text: '' }],
    [{}],
    [null],
    [7],
    [[]],
    [{ text: 'a', file: 'b.md' }],
    [{ text: 'a', sentences: 0 }],
    [{ text: 'a', sentences: 21 }],
  ])('rejects the invalid input %j', async (input) => {
    const checked = await agent().input?.['~standard'].validate(input)

    expect(checked?.issues).toEqual([{ message: expect.any(String) }])
  })

  it('accepts a valid input unchanged', async () => {
    expect(await agent().input?.['~standard'].validate({ file: 'notes.md' })).toEqual({ value: { file: 'notes.md' } })
  })

  it('rejects with the reason of an aborted signal', async () => {
    await expect(runAgent(agent(), TEXT, AbortSignal.abort('aborted'))).rejects.toBe('aborted')
  })
})
