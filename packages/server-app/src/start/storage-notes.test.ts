import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type LogFields, type Logger, StartError } from '@perdure/ports'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { createServer } from '../create-server.ts'
import { createStorageNotes } from './storage-notes.ts'

/** A database of schema 25. */
const OLD = gunzipSync(readFileSync(join(import.meta.dirname, '../../../../e2e/golden/open-runs-25.db.gz')))

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-notes-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Starts a server on the database, and returns what it logs about it. */
async function startAndStop(port = 0, over: object = {}) {
  const notes: unknown[] = []
  const ignore = () => undefined
  const info = (message: string, fields?: LogFields) => {
    if (message.startsWith('database')) notes.push({ message, ...fields })
  }
  const logger: Logger = { debug: ignore, info, warn: ignore, error: ignore }
  const config = { auth: { kind: 'none' }, storage: { path }, server: { port }, ...over } as const
  const server = await createServer({ config, adapters: { logger } })
  const error = await server.start().then(
    () => undefined,
    (reason: unknown) => reason as Error & { readonly hint: string },
  )
  await server.stop({ force: true })
  return { notes, error }
}

/** Listens on a port, so that a server cannot. */
async function takePort() {
  const taken = createNetServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  return { port: (taken.address() as { port: number }).port, release: () => taken.close() }
}

describe('a start', () => {
  it('logs that it has created the database, and later that it has opened it', async () => {
    const created = await startAndStop()
    const opened = await startAndStop()

    expect(created.notes).toEqual([{ message: 'database created', path, schemaVersion: expect.any(Number) }])
    expect(opened.notes).toEqual([{ ...(created.notes[0] as object), message: 'database opened' }])
  })

  it('names the versions and the copy if it migrates, also in its error if it fails afterwards', async () => {
    writeFileSync(path, OLD, { mode: 0o600 })
    const { port, release } = await takePort()
    const failed = await startAndStop(port)
    const again = await startAndStop(port)
    release()

    const copy = `${path}.before-26`
    expect(failed.notes).toEqual([{ message: 'database migrated', path, from: 25, to: expect.any(Number), copy }])
    expect(failed.error).toMatchObject({ kind: 'address-in-use' })
    expect(failed.error?.hint).toMatch(
      /; this start has migrated .*data\.db from schema version 25 to \d+; .*\.before-26$/,
    )
    expect(again.error).toMatchObject({ kind: 'address-in-use', hint: expect.not.stringContaining('migrated') })
  })
})

needsTool('PostgreSQL').describe('a start on PostgreSQL', () => {
  it('logs that it has created each schema, and later that it has opened it', async () => {
    process.env.NOTES_DATABASE_URL = await sharedPostgres()
    process.env.NOTES_PEPPER = 'x'.repeat(32)
    const schema = `notes_${randomUUID().replaceAll('-', '').slice(0, 16)}`
    const config = {
      auth: { pepperRef: 'env:NOTES_PEPPER' },
      storage: { kind: 'postgres', urlRef: 'env:NOTES_DATABASE_URL', schema },
      audit: { enabled: true },
    }

    const created = await startAndStop(0, config)
    const opened = await startAndStop(0, config)

    const [schemaVersion, schemas] = [expect.any(Number), [schema, `${schema}_audit`]]
    expect(created.notes).toEqual(schemas.map((name) => ({ message: 'database created', schema: name, schemaVersion })))
    expect(opened.notes).toEqual(schemas.map((name) => ({ message: 'database opened', schema: name, schemaVersion })))
  })
})

it('names a migrated schema in the error of a start that fails afterwards', () => {
  const logged: unknown[] = []
  const ignore = () => undefined
  const info: Logger['info'] = (...line) => void logged.push(line)
  const notes = createStorageNotes({ debug: ignore, info, warn: ignore, error: ignore })
  notes.of('shop').onOpened({ schema: 'shop', schemaVersion: 9, change: { from: 7, to: 9 } })

  expect(logged).toEqual([['database migrated', { schema: 'shop', from: 7, to: 9 }]])
  expect(notes.explain(new StartError('address-in-use', { message: 'taken', hint: 'use another' }))).toMatchObject({
    hint: 'use another; this start has migrated the schema shop from schema version 7 to 9; for an earlier release, restore a dump from before',
  })
})
