import { EVERY_ROW, isStoredText, type JsonText } from '@perdure/ports'
import { aFact, aRun, aSession } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const PAGE = { limit: 10, order: 'asc' } as const

needsTool('PostgreSQL').describe('a text on a PostgreSQL server', () => {
  const schema = createTestSchema()

  it.each([true, false])('may contain any character, and can be searched for (groups: %s)', async (groups) => {
    const storage = await schema.open({ groups })
    const strange = 'a\u0000b\u0001c\\d"e{f}g,h\u{1F600}\n'
    const run = aRun({ id: 'run-1', metadata: { strange }, userId: strange, abortReason: strange })
    const session = aSession({ id: 'ses-1', title: strange, metadata: { strange } })
    const fact = aFact({ id: 'fact-1', text: `${strange} word`, tags: [strange, 'plain'] })

    await storage.unitOfWork.commit([
      { type: 'run.insert', run },
      { type: 'session.insert', session },
    ])
    await storage.unitOfWork.commit([{ type: 'fact.insert', fact }])

    expect((await storage.runs.list({ metadata: { strange } }, PAGE, EVERY_ROW)).items).toEqual([run])
    expect((await storage.sessions.list({ metadata: { strange } }, PAGE, EVERY_ROW)).items).toEqual([session])
    const filter = { now: 0 as never, visibility: EVERY_ROW, tags: [strange] } as const
    expect(await storage.facts.search('word', filter, 10)).toEqual([fact])
  })

  it('is read in parts, whatever characters the id of its run has', async () => {
    const storage = await schema.open()
    const input = JSON.stringify('é'.repeat(50_000)) as JsonText
    const ids = ["a'b", 'a\\b', "a\u0000'b", `a' || current_user || '`, 'a$1b']
    for (const id of ids) await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id, input }) }])

    const { items } = await storage.runs.outline({}, PAGE, EVERY_ROW)
    const read = await Promise.all(
      items.map(async ({ input: text }) => isStoredText(text) && (await text.read(1, text.bytes))),
    )

    expect(items.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(read.map((bytes) => bytes && Buffer.from(bytes).toString())).toEqual(ids.map(() => input.slice(1)))
  })

  it('is read after the connections for reads were lost', async () => {
    const storage = await schema.open()
    const input = JSON.stringify('x'.repeat(50_000)) as JsonText
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run-1', input }) }])
    const [run] = (await storage.runs.outline({}, PAGE, EVERY_ROW)).items
    const terminated = await schema.query(
      'select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1',
      [`perdure reads ${schema.name}`],
    )

    const text = run?.input
    expect(terminated.length).toBeGreaterThan(0)
    expect(isStoredText(text) && (await text.read(0, 10))).toEqual(new TextEncoder().encode('"xxxxxxxxx'))
  })

  it('may be longer than an entry of an index', async () => {
    const storage = await schema.open()
    const long = 'é'.repeat(10_000)
    const run = aRun({ id: 'run-1', metadata: { long } })
    const fact = aFact({ id: 'fact-1', text: `${'x'.repeat(9_000)} short` })

    await storage.unitOfWork.commit([{ type: 'run.insert', run }])
    await storage.unitOfWork.commit([{ type: 'fact.insert', fact }])

    expect((await storage.runs.list({ metadata: { long } }, PAGE, EVERY_ROW)).items).toEqual([run])
    expect((await storage.runs.list({ metadata: { long: `${long}!` } }, PAGE, EVERY_ROW)).items).toEqual([])
    const filter = { now: 0 as never, visibility: EVERY_ROW } as const
    expect(await storage.facts.search('x'.repeat(9_000), filter, 10)).toEqual([fact])
    expect(await storage.facts.search('x'.repeat(9_001), filter, 10)).toEqual([])
  })
})
