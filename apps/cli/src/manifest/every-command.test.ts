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

/** A server that answers 401 to every request. */
let refusing: Server
beforeAll(async () => {
  refusing = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"error":"auth-invalid","message":"no"}')
  })
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void refusing.close())

/** Arguments that pass parsing, so that the command fails only at the server or the missing configuration. */
function argumentsOf({ path, target, arguments: given = [], flags = [] }: CommandSpec): readonly string[] {
  const values = path === 'api' ? ['runs.list'] : given.filter(({ optional }) => !optional).map(() => 'x')
  const required = flags.filter((flag) => flag.required).flatMap(({ name }) => [`--${name}`, 'x'])
  const { port } = refusing.address() as AddressInfo
  const targetFlags = {
    server: ['--url', `http://127.0.0.1:${port}/v1`, '--token', 't'],
    storage: ['--config', 'missing.mjs'],
    none: [],
  }
  return [...path.split(' '), ...values, ...required, ...targetFlags[target]]
}

interface Ran {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

/** Runs the command in an empty folder, without a terminal and with an empty stdin. */
async function run(args: readonly string[]): Promise<Ran> {
  const terminal = recordingTerminal({ cwd: dir(), env: { XDG_CONFIG_HOME: dir() } })
  const ask = async () => {
    throw new Error('prompted without a terminal')
  }
  const exitCode = await runCli(args, { ...terminal, ask })
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

const codesOf = ({ exits = [] }: CommandSpec): readonly number[] =>
  (['ok', 'failed', 'usage', 'interrupted', ...exits] as const).map((exit) => EXIT_CODES[exit].code)

// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/

describe.each(byPath)('perdure %s', (path, command) => {
  it('writes only JSON to stdout with --json and exits with a documented code', async () => {
    const { exitCode, out } = await run([...argumentsOf(command), '--json'])

    expect(codesOf(command)).toContain(exitCode)
    const lines = out.trimEnd().split('\n')
    if (command.output === 'document' || exitCode !== 0) expect(lines).toHaveLength(1)
    for (const line of lines) expect(JSON.parse(line), line).toMatchObject({})
  })

  it('does not prompt and writes no control characters without a terminal', async () => {
    const { exitCode, out, err } = await run(argumentsOf(command))

    expect(codesOf(command)).toContain(exitCode)
    expect(`${out}${err}`).not.toMatch(CONTROL)
    expect(err).not.toContain('prompted without a terminal')
  })

  it('rejects an unknown flag with a suggestion, an unknown format and a surplus argument', async () => {
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

describe('a command that calls a server', () => {
  const asking = byPath.filter(([, { target, exits }]) => target === 'server' && exits?.includes('denied'))

  it.each(asking)('exits 4 when the server rejects the token: perdure %s', async (_, command) => {
    const yes = command.flags?.some(({ name }) => name === 'yes') ? ['--yes'] : []
    const { exitCode, out } = await run([...argumentsOf(command), ...yes, '--json'])

    expect(exitCode).toBe(EXIT_CODES.denied.code)
    expect(JSON.parse(out)).toMatchObject({ error: 'auth-invalid' })
  })
})
