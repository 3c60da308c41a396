import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recordingTerminal } from '../test/recording-terminal.ts'
import { temporaryDir } from '../test/temporary-dir.ts'
import { COMMANDS } from './manifest/commands.ts'
import { flagsOf } from './manifest/shared-flags.ts'
import { runCli } from './run-cli.ts'
import { contextsPath, readContexts } from './server-access/contexts.ts'

const SECRET = 'perdure_live_v1_secret'
const UNREACHABLE = ['runs', 'list', '--url', 'http://127.0.0.1:1/v1']

const dir = temporaryDir()
let server: Server
let sent: (string | undefined)[]
beforeAll(async () => {
  server = createServer((request, response) => {
    sent.push(request.headers.authorization)
    response.setHeader('content-type', 'application/json').end('{"items":[],"nextCursor":null}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void server.close())
beforeEach(() => {
  sent = []
  writeFileSync(join(dir(), 'token.txt'), `${SECRET}\n`)
  chmodSync(join(dir(), 'token.txt'), 0o600)
})

async function run(args: readonly string[], state: { readonly input?: string; readonly token?: string } = {}) {
  const { input, token } = state
  const env = { XDG_CONFIG_HOME: dir(), ...(token === undefined ? {} : { PERDURE_TOKEN: token }) }
  const terminal = recordingTerminal({ cwd: dir(), env, ...(input === undefined ? {} : { input }) })
  const exitCode = await runCli(args, terminal)
  return { exitCode, out: terminal.out(), err: terminal.err(), env }
}

const list = (...flags: readonly string[]) => {
  const { port } = server.address() as AddressInfo
  return ['runs', 'list', '--url', `http://127.0.0.1:${port}/v1`, ...flags]
}

describe('a secret flag', () => {
  it.each([
    ['-', `${SECRET}\n`],
    ['@token.txt', ''],
  ])('reads the token of --token %s without a warning', async (value, input) => {
    expect(await run(list('--token', value), { input })).toMatchObject({ exitCode: 0, err: '' })
    expect(sent).toEqual([`Bearer ${SECRET}`])
  })

  it('takes a token from the command line and warns that other users and the shell history can see it', async () => {
    const { exitCode, err } = await run(list('--token', SECRET))

    expect(exitCode).toBe(0)
    expect(sent).toEqual([`Bearer ${SECRET}`])
    expect(err).toMatch(/^warning: --token .*process list.*shell history.*PERDURE_TOKEN.*context.*--token -.*@file/)
    expect(err).not.toContain(SECRET)
  })

  it('prints no warning with --quiet', async () => {
    expect(await run(list('--token', SECRET, '--quiet'))).toMatchObject({ exitCode: 0, err: '' })
  })

  it.each([
    ['an empty file', ['--token', '@empty.txt'], '--token: '],
    ['a missing file', ['--token', '@nope.txt'], 'cannot be read'],
    ['an empty stdin', ['--token', '-'], '--token: '],
    ['an empty value', ['--token', ''], '--token: '],
  ])('rejects %s', async (_, flags, message) => {
    writeFileSync(join(dir(), 'empty.txt'), '\n')
    const { exitCode, err } = await run(list(...flags))

    expect(exitCode).toBe(2)
    expect(err).toContain(message)
    expect(sent).toEqual([])
  })

  it('rejects a second flag that reads stdin', async () => {
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/v1`
    const { exitCode, err } = await run(['agents', 'run', 'echo', '--url', url, '--token', '-', '--input', '-'], {
      input: SECRET,
    })

    expect(exitCode).toBe(2)
    expect(err).toContain('--token has already read stdin')
    expect(sent).toEqual([])
  })

  it.each([
    ['-', `${SECRET}\n`],
    ['@token.txt', ''],
  ])('stores the token of context add --token %s', async (value, input) => {
    const url = 'http://127.0.0.1:8080/v1'
    const { exitCode, err, env } = await run(['context', 'add', 'prod', '--url', url, '--token', value], { input })

    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(readContexts(env).contexts.prod).toEqual({ url, token: SECRET })
    expect(contextsPath(env)).toContain(dir())
  })

  it('is the type of every flag whose name or note speaks about a token, a key or a password', () => {
    const flags = COMMANDS.flatMap((command) => flagsOf(command))
    const suspects = flags.filter(
      ({ name, type }) => type !== 'boolean' && /^(token|pepper|passphrase|password|secret)$/.test(name),
    )

    expect(suspects.length).toBeGreaterThan(1)
    for (const { name, type } of suspects) expect([name, type]).toEqual([name, 'secret'])
  })
})

describe('an error', () => {
  it.each([
    ['a token with a line break in it', { token: `${SECRET}\nx` }, UNREACHABLE],
    ['a token with a letter that no header can carry', { token: `${SECRET}é€` }, UNREACHABLE],
    ['an unknown flag with a value', {}, [...UNREACHABLE, `--tokn=${SECRET}`]],
    ['a URL with a password', {}, ['runs', 'list', '--url', `http://me:${SECRET}@127.0.0.1:1/v1`]],
    ['an invalid URL with a password', {}, ['runs', 'list', '--url', `ftp://me:${SECRET}@127.0.0.1:1/v1`]],
    ['a context URL with a password', {}, ['context', 'add', 'x', '--url', `http://me:${SECRET}@127.0.0.1:1/v1`]],
  ])('does not repeat the secret of %s', async (_, state, args) => {
    for (const more of [[], ['--json'], ['--verbose']]) {
      const { exitCode, out, err } = await run([...args, ...more], state)

      expect(exitCode).toBe(2)
      expect(err).toContain('error[usage]')
      expect(`${out}${err}`).not.toContain(SECRET)
    }
  })
})
