import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from '@perdure/ports'
import { openPostgresStorage } from '@perdure/postgres'
import { openSqliteStorage, vacuum } from '@perdure/sqlite'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { actAtRandom, startWorld, type World } from './many-subjects.fixture.ts'

/** SUBJECTS=200 SUBJECT_ACTIONS=40 is the long form. */
const { SUBJECTS = '40', SUBJECT_ACTIONS = '8', SUBJECT_SEED = '1' } = process.env
const subjects = Number(SUBJECTS)
const forms = { actions: Number(SUBJECT_ACTIONS), seed: Number(SUBJECT_SEED) }

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'many-subjects-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const filesIn = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())

const filesWith = (dir: string, text: string) => filesIn(dir).filter((path) => readFileSync(path).includes(text))

/** Deletes the data of a person, by as many requests as it takes. */
async function erase({ admin, clock }: World, subject: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    if ((await admin.subjects.delete(subject)).isComplete) return
    clock.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`the deletion of ${subject} did not end`)
}

/** Lets the loops of the server do what is due. */
async function passTime({ clock }: World, ms: number, realMs = 20): Promise<void> {
  clock.advance(ms)
  await new Promise((resolve) => setTimeout(resolve, realMs))
}

/** Two days, after which nothing is kept any more; then the loops that delete have a few minutes. */
async function passDays(world: World): Promise<void> {
  for (let step = 0; step < 200; step++) await passTime(world, 900_000, 1)
  for (let step = 0; step < 30; step++) await passTime(world, 60_000)
}

/** Every second person is deleted: of each name, users of some kinds stay. */
async function actAndErase(world: World) {
  const { answers, refusals } = await actAtRandom(world, forms)
  expect(answers).toBeGreaterThan(world.people.length * forms.actions)
  expect([...refusals.keys()].toSorted()).toEqual(expect.arrayContaining([403, 404]))
  const gone = world.people.filter((_, index) => index % 2 === 0)
  const staying = world.people.filter((_, index) => index % 2 === 1)
  const exportOf = async ({ subject }: { readonly subject: string }) =>
    (await world.admin.subjects.export(subject)).text()
  const before = await Promise.all(staying.map(exportOf))
  for (const [index, { mark, rows }] of staying.entries()) {
    for (const { id } of rows) expect(before[index]).toContain(id)
    expect(before[index]?.match(/mark-\d+-of-\w+-\w+-end/g)?.filter((found) => found !== mark) ?? []).toEqual([])
  }
  for (const { subject } of gone) await erase(world, subject)
  expect(await Promise.all(staying.map(exportOf))).toEqual(before)
  for (const person of gone) expect((await exportOf(person)).trimEnd().split('\n')).toHaveLength(1)
  await passDays(world)
  expect(await world.admin.audit.verify({})).toMatchObject({ ok: true })
  return { gone, staying }
}

const hasRows = ({ rows }: World['people'][number]) => rows.length > 0

describe('many subjects that act at random', () => {
  it('see nothing of one another, and leave no text of theirs in any file when they are deleted', async () => {
    const dir = folder()
    const path = join(dir, 'data.db')
    const storage = await openSqliteStorage({ path })
    const world = await startWorld(storage, path, subjects)

    const { gone, staying } = await actAndErase(world)
    const auditText = (await (await world.admin.audit.export()).text()) ?? ''
    await world.server.stop()
    await storage.close()
    await vacuum(path)

    for (const { mark } of gone) expect([mark, filesWith(dir, mark)]).toEqual([mark, []])
    for (const { mark } of world.people) expect(auditText).not.toContain(mark)
    // The search itself finds what is there.
    for (const person of staying.filter(hasRows))
      expect([person.mark, filesWith(dir, person.mark)]).not.toEqual([person.mark, []])
  })

  needsTool('PostgreSQL').it('see nothing of one another on PostgreSQL, and leave no row of theirs', async () => {
    const schema = `subjects_${randomUUID().replaceAll('-', '').slice(0, 16)}`
    const url = await sharedPostgres()
    const storage: Storage = await openPostgresStorage({ url, schema })
    const dir = folder()
    const world = await startWorld(storage, join(dir, 'data.db'), Math.ceil(subjects / 3))

    const { gone, staying } = await actAndErase(world)
    const left = async () => {
      await passTime(world, 60_000)
      const stored = await textOfSchema(url, schema)
      return gone.flatMap(({ mark }) => tablesWith(stored, mark).map((table) => [table, mark]))
    }
    await expect.poll(left).toEqual([])
    const stored = await textOfSchema(url, schema)
    await world.server.stop()
    await storage.close()

    for (const { mark } of gone) {
      expect([mark, filesWith(dir, mark)]).toEqual([mark, []])
    }
    for (const person of staying.filter(hasRows)) expect(tablesWith(stored, person.mark)).not.toEqual([])
  })
})

type Stored = ReadonlyMap<string, string>

const tablesWith = (stored: Stored, text: string) =>
  [...stored].flatMap(([table, content]) => (content.includes(text) ? [table] : []))

/** Bytes as the text that they encode. */
const textOf = (rows: readonly unknown[]): string =>
  JSON.stringify(rows, (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString()
    return value
  })

/** All rows of each table, as text. */
async function textOfSchema(connectionString: string, schema: string): Promise<Stored> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      'select table_name as name from information_schema.tables where table_schema = $1',
      [schema],
    )
    const stored = new Map<string, string>()
    for (const { name } of tables)
      stored.set(name, textOf((await client.query(`select * from "${schema}"."${name}"`)).rows))
    return stored
  } finally {
    await client.end()
  }
}
