import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '@perdure/ports'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import { openTokenAdmin } from '../start/token-admin.ts'

process.env.FIRST_PEPPER = 'a'.repeat(32)
process.env.SECOND_PEPPER = 'b'.repeat(32)
const FIRST = { pepperRef: 'env:FIRST_PEPPER' }
const SECOND = { pepperRef: 'env:SECOND_PEPPER' }

const ignore = () => undefined

/** Starts and stops a server, and returns its warnings about the pepper. */
async function warningsWith(storage: object, auth: object): Promise<readonly unknown[]> {
  const warnings: unknown[] = []
  const warn: Logger['warn'] = (message, fields) =>
    void (message.includes('pepper') && warnings.push([message, fields]))
  const logger: Logger = { debug: ignore, info: ignore, warn, error: ignore }
  const server = await createServer({ config: { auth, storage, server: { port: 0 } }, adapters: { logger } })
  await server.start()
  await server.stop({ force: true })
  return warnings
}

async function createToken(storage: object, auth: object): Promise<void> {
  const admin = await openTokenAdmin(parseConfig({ auth, storage }))
  await admin.mint({ name: 'test', scopes: ['admin:*'] })
  await admin.close()
}

/** The tests on one kind of storage; `create` returns the settings of an empty one. */
function describeStorage(create: () => object | Promise<object>): void {
  it('warns at a start with another pepper, until a token is created with it', async () => {
    const storage = await create()
    expect(await warningsWith(storage, FIRST)).toEqual([])
    await createToken(storage, FIRST)

    expect(await warningsWith(storage, FIRST)).toEqual([])
    const other = [
      [
        expect.stringContaining('differs from the one that this database was last used with'),
        { hint: expect.stringContaining('auth.previousPepperRefs') },
      ],
    ]
    expect(await warningsWith(storage, SECOND)).toEqual(other)
    expect(await warningsWith(storage, SECOND)).toEqual(other)
    expect(await warningsWith(storage, FIRST)).toEqual([])

    await createToken(storage, SECOND)
    expect(await warningsWith(storage, SECOND)).toEqual([])
  })

  it('does not warn when the earlier pepper is listed in auth.previousPepperRefs', async () => {
    const storage = await create()
    await createToken(storage, FIRST)

    expect(await warningsWith(storage, { ...SECOND, previousPepperRefs: ['env:FIRST_PEPPER'] })).toEqual([])
  })
}

describe('a database file', () => {
  const createFile = () => {
    const directory = mkdtempSync(join(tmpdir(), 'perdure-pepper-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    return { path: join(directory, 'data.db') }
  }

  describeStorage(createFile)
})

needsTool('PostgreSQL').describe('a PostgreSQL schema', () => {
  describeStorage(async () => {
    process.env.PEPPER_DATABASE_URL = await sharedPostgres()
    const schema = `pepper_${randomUUID().replaceAll('-', '').slice(0, 16)}`
    return { kind: 'postgres', urlRef: 'env:PEPPER_DATABASE_URL', schema }
  })
})
