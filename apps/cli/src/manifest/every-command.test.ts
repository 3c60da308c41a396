import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { runCli } from '../run-cli.ts'
import type { CommandSpec } from './command-spec.ts'
import { COMMANDS } from './commands.ts'

const dir = temporaryDir()
const byPath = COMMANDS.map((command) => [command.path, command] as const)

/** A server that refuses everything, as one does whose token is wrong. */
let refusing: Server
beforeAll(async () => {
  refusing = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"error":"auth-invalid","message":"no"}')
  })
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void refusing.close())

/** What it needs to get as far as its work; a server that refuses, a configuration that is not there, nothing. */
function argumentsOf({ path, target, arguments: given = [], flags = [] }: CommandSpec): readonly string[] {
  const values = path === 'api' ? ['runs.list'] : given.filter(({ optional }) => !optional).map(() => 'x')
  const required = flags.filter((flag) => flag.required).flatMap(({ name }) => [`--${name}`, 'x'])
  const { port } = refusing.address() as AddressInfo
  const place = {
    server: ['--url', `http://127.0.0.1:${port}/v1`, '--token', 't'],
    storage: ['--config', 'missing.mjs'],
    none: [],
  }
  return [...path.split(' '), ...values, ...required, ...place[target]]
}

interface Ran {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

/** In a folder of its own, without a terminal, with nothing on stdin. */
async function run(args: readonly string[]): Promise<Ran> {
  const terminal = recordingTerminal({ cwd: dir(), env: { XDG_CONFIG_HOME: dir() } })
  const ask = async () => {
    throw new Error('asked, although nobody can answer')
  }
  const exitCode = await runCli(args, { ...terminal, ask })
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

const codesOf = ({ exits = [] }: CommandSpec): readonly number[] =>
  (['ok', 'failed', 'usage', 'interrupted', ...exits] as const).map((exit) => EXIT_CODES[exit].code)

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/

describe.each(byPath)('perdure %s', (path, command) => {
  it('writes JSON and nothing else to stdout with --json, and ends with a code that its help names', async () => {
    const { exitCode, out } = await run([...argumentsOf(command), '--json'])

    expect(codesOf(command)).toContain(exitCode)
    const lines = out.trimEnd().split('\n')
    if (command.output === 'document' || exitCode !== 0) expect(lines).toHaveLength(1)
    for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object')
  })

  it('asks nobody, moves no cursor and needs no stdin where there is no terminal', async () => {
    const { exitCode, out, err } = await run(argumentsOf(command))

    expect(codesOf(command)).toContain(exitCode)
    expect(`${out}${err}`).not.toMatch(CONTROL)
    expect(err).not.toContain('although nobody can answer')
  })

  it('refuses an unknown flag with a proposal, an unknown format, and one word too many', async () => {
    const args = argumentsOf(command)
    const [flag, format, word] = [
      await run([...args, '--quite', '--json']),
      await run([...args, '--format', 'xml', '--json']),
      await run([...args, 'surplus', 'surplus', 'surplus', '--json']),
    ]

    expect(flag.exitCode).toBe(EXIT_CODES.usage.code)
    expect(JSON.parse(flag.out)).toMatchObject({ error: 'usage', hint: expect.stringContaining('--quiet') })
    expect(format.exitCode).toBe(EXIT_CODES.usage.code)
    const isVariadic = command.arguments?.some(({ variadic }) => variadic)
    if (!isVariadic) expect(word.exitCode, path).toBe(EXIT_CODES.usage.code)
  })
})

describe('commands that speak to a server', () => {
  const asking = byPath.filter(([, { target, exits }]) => target === 'server' && exits?.includes('denied'))

  it.each(asking)('perdure %s exits 4 when it is not let in, and says how to get a token', async (_, command) => {
    const { exitCode, out } = await run([...argumentsOf(command), '--json'])

    expect(exitCode).toBe(EXIT_CODES.denied.code)
    expect(JSON.parse(out)).toMatchObject({ error: 'auth-invalid' })
  })
})
