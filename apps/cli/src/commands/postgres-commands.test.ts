import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

const SCHEMA = `cli_${randomUUID().replaceAll('-', '').slice(0, 16)}`
const NOWHERE = 'postgres://perdure:s3cr3t@127.0.0.1:1/perdure?sslmode=disable'
const ENV = {
  PERDURE_STORAGE_KIND: 'postgres',
  PERDURE_STORAGE_URL_REF: 'env:CLI_TEST_URL',
  PERDURE_STORAGE_SCHEMA: SCHEMA,
  PERDURE_AUTH_PEPPER_REF: 'env:CLI_TEST_PEPPER',
  PERDURE_SERVER_PORT: '0',
}

const dir = temporaryDir()
beforeAll(() => {
  process.env.CLI_TEST_PEPPER = 'p'.repeat(40)
})

const perdure = async (...args: readonly string[]) => {
  const terminal = recordingTerminal({ cwd: dir(), env: ENV })
  const exitCode = await runCli(args, terminal)
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

interface Check {
  readonly check: string
  readonly status: string
  readonly message: string
}

const databaseChecks = async () => {
  const { exitCode, out } = await perdure('doctor', '--json')
  const checks = (JSON.parse(out) as { checks: readonly Check[] }).checks
  return { exitCode, checks: checks.filter(({ check }) => ['storage', 'clocks', 'schema'].includes(check)) }
}

describe('storage.kind postgres', () => {
  it.each(['backup create', 'backup verify copy.db', 'restore copy.db', 'storage verify', 'storage vacuum'])(
    'makes perdure %s refuse, and name the tools of PostgreSQL',
    async (command) => {
      const { exitCode, out, err } = await perdure(...command.split(' '))

      expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
      expect(err).toContain('storage.kind is postgres')
      expect(err).toContain(`pg_dump --schema=${SCHEMA}`)
      expect(err).toContain('point-in-time recovery')
    },
  )

  it.each(['config check', 'migrate status', 'migrate up'])(
    'makes perdure %s name a database that cannot be reached, without the password',
    async (command) => {
      process.env.CLI_TEST_URL = NOWHERE

      const { exitCode, err } = await perdure(...command.split(' '))

      expect(exitCode).toBe(3)
      expect(err).toContain('ECONNREFUSED 127.0.0.1:1')
      expect(err).not.toContain('s3cr3t')
    },
  )

  it('makes perdure doctor report a database that cannot be reached', async () => {
    process.env.CLI_TEST_URL = NOWHERE

    const { exitCode, checks } = await databaseChecks()

    expect(exitCode).toBe(5)
    expect(checks).toMatchObject([
      { check: 'storage', status: 'fail', message: expect.stringContaining('ECONNREFUSED') },
    ])
    expect(JSON.stringify(checks)).not.toContain('s3cr3t')
  })
})

needsTool('PostgreSQL').describe('storage.kind postgres with a database', () => {
  beforeAll(async () => {
    process.env.CLI_TEST_URL = await sharedPostgres()
  })

  const migrations = async (...args: readonly string[]) => {
    const { exitCode, out } = await perdure('migrate', ...args, '--json')
    const { path, applied, pending } = JSON.parse(out) as Record<'applied' | 'pending', readonly object[]> & {
      path: string
    }
    return { exitCode, path, applied: applied.length, pending: pending.length }
  }

  it('lets the commands check, inspect and migrate the schema', async () => {
    expect(await perdure('config', 'check')).toMatchObject({ exitCode: 0, out: expect.stringContaining('valid') })
    const before = await migrations('status')
    expect(before).toMatchObject({ exitCode: 0, path: `schema ${SCHEMA}`, applied: 0 })
    expect((await databaseChecks()).checks).toMatchObject([
      { check: 'storage', status: expect.stringMatching('ok|warn'), message: expect.stringMatching(/^PostgreSQL \d+/) },
      { check: 'clocks', status: 'ok' },
      { check: 'schema', status: 'ok', message: expect.stringContaining('the first start creates it') },
    ])
    expect(await migrations('up', '--dry-run')).toEqual(before)

    const after = await migrations('up')

    expect(after).toEqual({ ...before, applied: before.pending, pending: 0 })
    expect(await migrations('status')).toEqual(after)
    expect((await databaseChecks()).checks.at(-1)).toMatchObject({
      check: 'schema',
      message: `${SCHEMA} is up to date, ${after.applied} migrations applied`,
    })
  })
})

afterAll(() => {
  delete process.env.CLI_TEST_URL
})
