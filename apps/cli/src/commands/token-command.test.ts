import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isWellFormedToken } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { ensureDevPepper } from '../dev/dev-pepper.ts'
import { runCli } from '../run-cli.ts'
import { writeDevSession } from '../server-access/dev-session.ts'

const CREATE = ['create', '--name', 'ci', '--scopes', 'agents:read, agents:invoke:echo']

describe('perdure token', () => {
  const dir = temporaryDir()

  // The pepper is in a file because `env:` references read the real environment.
  const token = async (...args: string[]) => {
    await writeFile(join(dir(), 'pepper'), 'p'.repeat(32), { mode: 0o600 })
    const terminal = recordingTerminal({ cwd: dir(), env: { PERDURE_AUTH_PEPPER_REF: 'file:pepper' } })
    const exitCode = await runCli(['token', ...args], terminal)
    return { exitCode, out: terminal.out(), err: terminal.err() }
  }
  const json = async (...args: string[]) => JSON.parse((await token(...args, '--json')).out) as Record<string, unknown>

  it('creates a token before the first server start and writes one JSON document', async () => {
    const document = await json(...CREATE, '--subject', 'ada', '--env', 'test', '--expires-at', '2100-01-01T00:00:00Z')

    expect(document).toMatchObject({
      id: expect.stringMatching(/^tok_/),
      name: 'ci',
      subject: 'ada',
      scopes: ['agents:read', 'agents:invoke:echo'],
      env: 'test',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: '2100-01-01T00:00:00.000Z',
    })
    expect(isWellFormedToken(document.token as string)).toBe(true)
    expect(document).not.toHaveProperty('digest')
  })

  it('omits expiresAt for a token that never expires', async () => {
    expect(await json(...CREATE)).not.toHaveProperty('expiresAt')
  })

  it('prints only the token to stdout without --json', async () => {
    const { out, err } = await token(...CREATE)

    expect(isWellFormedToken(out.trimEnd())).toBe(true)
    expect(err).not.toContain(out.trimEnd())
  })

  it.each([
    ['no subject', [], ''],
    ['the subject ada', ['--subject', 'ada'], 'subject ada, '],
  ])('describes a token with %s on stderr', async (_, flags, subject) => {
    const { err } = await token(...CREATE, ...flags)

    const described = `${subject}scopes agents:read, agents:invoke:echo, never expires; the token is not shown again`
    expect(err.replace(/tok_\w+/g, 'ID')).toBe(`created ID: ${described}\n`)
  })

  it('warns on stderr and in --json of a scope that names an agent missing from the configuration file', async () => {
    const registration = "{ id: 'triage', description: 'x', agent: { id: 'triage', run: async () => 1 } }"
    await writeFile(join(dir(), 'perdure.config.mjs'), `export default { agents: [${registration}] }`)
    const create = ['create', '--name', 'ci', '--scopes', 'agents:invoke:triage,workflows:execute:triage']
    const warning = 'scope workflows:execute:triage: no workflow triage is registered in perdure.config.mjs'

    const { exitCode, out, err } = await token(...create)

    expect(exitCode).toBe(0)
    expect(isWellFormedToken(out.trimEnd())).toBe(true)
    expect(err).toContain(`warning: ${warning}\n`)
    expect(await json(...create)).toHaveProperty('warnings', [warning])
    expect(await json('create', '--name', 'ci', '--scopes', 'agents:invoke:triage')).not.toHaveProperty('warnings')
  })

  it('lists tokens newest first, without their values', async () => {
    const first = await json(...CREATE)
    const second = await json(...CREATE)
    const list = await json('list')
    const table = await token('list')

    expect((list.items as { id: string }[]).map(({ id }) => id)).toEqual([second.id, first.id])
    expect(JSON.stringify(list)).not.toContain(first.token)
    expect(table.out).toMatch(/^ID +NAME +SUBJECT/)
    expect(table.out).not.toContain(first.token)
  })

  it('uses the pepper of the perdure dev that runs in the folder, and no other', async () => {
    const unset = { cwd: dir(), env: {} }
    const create = async () => {
      const terminal = recordingTerminal(unset)
      return {
        exitCode: await runCli(['token', 'create', '--name', 'x', '--scopes', 'agents:read'], terminal),
        err: terminal.err(),
      }
    }
    expect((await create()).err).toContain('error[pepper-missing]')

    await ensureDevPepper(join(dir(), '.graphorin/dev-pepper'))
    expect((await create()).err).toContain('error[pepper-missing]')
    writeDevSession(dir(), { url: 'http://127.0.0.1:9/v1', pid: process.pid })
    expect((await create()).exitCode).toBe(0)

    const doctor = recordingTerminal(unset)
    expect(await runCli(['doctor', '--json'], doctor)).toBe(0)
    expect(doctor.out()).toContain('only perdure dev has a pepper')
  })

  it('revokes a token and lists it as revoked', async () => {
    const { id } = await json(...CREATE)
    const revoked = await json('revoke', id as string)

    expect(revoked).toMatchObject({ id, revokedAt: expect.any(String) })
    expect((await token('list')).out).toContain('revoked ')
  })

  it.each([
    [['revoke', 'tok_missing'], 1, 'token-not-found'],
    [['create', '--name', 'x', '--scopes', 'nonsense:all'], 2, 'validation-failed'],
    [['create', '--name', 'x', '--scopes', 'agents:read', '--expires', 'soon'], 2, 'usage'],
    [
      ['create', '--name', 'x', '--scopes', 'agents:read', '--expires-at', '2001-01-01T00:00:00Z'],
      2,
      'validation-failed',
    ],
    [['create', '--name', 'x', '--scopes', 'agents:read', '--env', 'moon'], 2, 'usage'],
  ])('rejects %j with exit code %i', async (args, exitCode, error) => {
    const failed = await token(...args, '--json')

    expect(failed.exitCode).toBe(exitCode)
    expect(JSON.parse(failed.out)).toMatchObject({ error, message: expect.any(String) })
  })

  it('fails without a pepper and hints how to create one', async () => {
    const terminal = recordingTerminal({ cwd: dir() })
    const exitCode = await runCli(['token', 'list'], terminal)

    expect(exitCode).toBe(2)
    expect(terminal.err()).toMatch(/^error\[pepper-missing\]: .*\n {2}at auth\.pepperRef\n {2}hint: /)
  })
})
