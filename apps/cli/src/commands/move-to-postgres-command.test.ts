import { openSqliteStorage } from '@perdure/sqlite'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

describe('perdure migrate sqlite-to-postgres', () => {
  const dir = temporaryDir()

  const move = async (args: readonly string[], env: Record<string, string> = {}) => {
    const terminal = recordingTerminal({ cwd: dir(), env })
    const exitCode = await runCli(['migrate', 'sqlite-to-postgres', ...args], terminal)
    return { exitCode, err: terminal.err() }
  }

  it('needs a file and the reference of a URL', async () => {
    expect(await move(['--to-url-ref', 'env:DATABASE_URL'])).toMatchObject({ exitCode: 2 })
    expect(await move(['--from', 'data.db'])).toMatchObject({ exitCode: 2 })
  })

  it('names a URL that does not resolve, and a file that does not exist', async () => {
    const args = ['--from', 'data.db', '--to-url-ref', 'env:MOVE_TEST_URL']
    expect(await move(args)).toMatchObject({ exitCode: 2, err: expect.stringContaining('--to-url-ref') })

    process.env.MOVE_TEST_URL = 'postgres://perdure@127.0.0.1:1/perdure?sslmode=disable'
    expect(await move(args)).toMatchObject({ exitCode: 2, err: expect.stringContaining('does not exist') })
  })

  it('reports a database that cannot be reached, and leaves the file usable', async () => {
    process.env.MOVE_TEST_URL = 'postgres://perdure:secret@127.0.0.1:1/perdure?sslmode=disable'
    const path = `${dir()}/data.db`
    await (await openSqliteStorage({ path })).close()

    const { exitCode, err } = await move(['--from', 'data.db', '--to-url-ref', 'env:MOVE_TEST_URL'])

    expect(exitCode).toBe(3)
    expect(err).toContain('database-unavailable')
    expect(err).not.toContain('secret')
    await (await openSqliteStorage({ path })).close()
  })

  it('refuses an audit log without the configuration of its server', async () => {
    const args = ['--from', 'data.db', '--audit-from', 'audit.db', '--to-url-ref', 'env:MOVE_TEST_URL']

    expect(await move(args)).toMatchObject({ exitCode: 2, err: expect.stringContaining('audit.enabled') })
  })
})
