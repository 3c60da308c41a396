import { StartError } from '@perdure/ports'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { openPostgresStorage } from '../open-postgres-storage.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { requireUsableServer } from './hello.ts'
import type { Session } from './session.ts'

const refusalOf = async (opening: Promise<unknown>): Promise<string> => {
  const error = await opening.catch((thrown: unknown) => thrown)
  return error instanceof StartError ? `${error.kind}: ${error.message}` : `no StartError: ${error}`
}

const USABLE = { version: 140_000, isStandby: false, encoding: 'UTF8', synchronousCommit: 'on', systemId: '7' }

const answering = (row: object): Session => {
  const result = { rows: [{ ...USABLE, ...row }], command: 'SELECT', rowCount: 1 }
  return { execute: async () => result } as Partial<Session> as Session
}

it('accepts PostgreSQL 14', async () => {
  expect(await requireUsableServer(answering({}))).toBe('7')
})

it.each([
  ['an older server', { version: 130_020 }, 'older than version 14'],
  ['another encoding', { encoding: 'SQL_ASCII' }, 'the encoding SQL_ASCII'],
  ['commits that are not flushed', { synchronousCommit: 'off' }, 'synchronous_commit is off'],
])('refuses %s', async (_, row, message) => {
  expect(await refusalOf(requireUsableServer(answering(row)))).toMatch(new RegExp(`^config-invalid: .*${message}`))
})

it('refuses a standby, which may be promoted later', async () => {
  const refused = requireUsableServer(answering({ isStandby: true }))
  expect(await refusalOf(refused)).toMatch(/^database-unavailable: .*is a standby/)
})

needsTool('PostgreSQL').describe('the start on a PostgreSQL server', () => {
  const schema = createTestSchema()
  const roles: string[] = []
  afterAll(async () => {
    for (const role of roles) await schema.query(`drop role "${role}"`)
  })

  /** Opens a schema as a role that has no rights but those of everybody. */
  const openAs = async (role: string, settings: readonly string[] = []) => {
    const name = `${schema.name}_${role}`
    await schema.query(`create role "${name}" login`)
    roles.push(name)
    for (const setting of settings) await schema.query(`alter role "${name}" set ${setting}`)
    const url = new URL(await schema.url())
    url.username = name
    return openPostgresStorage({ url: url.href, schema: name })
  }

  it('is refused for a role that may not create the schema', async () => {
    expect(await refusalOf(openAs('plain'))).toMatch(/^config-invalid: .*permission denied for database/)
  })

  it('is refused for a role whose commits are not flushed', async () => {
    expect(await refusalOf(openAs('hasty', ['synchronous_commit = off']))).toMatch(/synchronous_commit is off/)
  })

  it('is refused for a member of a cluster whose clock differs by more than two seconds', async () => {
    const url = await schema.url()
    const open = () => openPostgresStorage({ url, schema: schema.name, cluster: true })
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())

    vi.setSystemTime(Date.now() - 5_000)
    expect(await refusalOf(open())).toMatch(/^clock-skew: .* 5\.\d s behind/)
    vi.setSystemTime(Date.now() + 10_000)
    expect(await refusalOf(open())).toMatch(/^clock-skew: .* \d\.\d s ahead of/)
  })
})
