import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { runCli } from '../run-cli.ts'
import type { CommandSpec } from './command-spec.ts'
import { COMMAND_GROUPS, COMMANDS } from './commands.ts'
import { flagsOf } from './shared-flags.ts'

const dir = temporaryDir()
const byPath = COMMANDS.map((command) => [command.path, command] as const)

async function run(args: readonly string[]) {
  const terminal = recordingTerminal({ cwd: dir(), env: { XDG_CONFIG_HOME: dir() } })
  const exitCode = await runCli(args, terminal)
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

/** What makes a command fail before it does anything: no server listens there, and no such file exists. */
const FAILING = {
  server: ['--url', 'http://127.0.0.1:1/v1'],
  storage: ['--config', 'missing.mjs'],
  none: ['--surplus'],
} as const

const requiredWords = ({ arguments: given = [], flags = [] }: CommandSpec) => [
  ...given.filter(({ optional }) => !optional).map(() => 'x'),
  ...flags.filter(({ required }) => required).flatMap(({ name }) => [`--${name}`, 'x']),
]

/** `triggers next` reads an expression without a server, and `api` lists operations: they get what needs one. */
const wordsOf = (command: CommandSpec): readonly string[] =>
  command.path === 'api' ? ['runs.list'] : requiredWords(command)

/** Finding what is wrong is its work: that it cannot read the configuration is a finding in its document. */
const failable = byPath.filter(([path]) => path !== 'doctor')

const failing = (command: CommandSpec) => [...command.path.split(' '), ...wordsOf(command), ...FAILING[command.target]]

const documented = (command: CommandSpec): readonly number[] =>
  (['ok', 'failed', 'usage', 'interrupted', ...(command.exits ?? [])] as const).map((exit) => EXIT_CODES[exit].code)

describe('the manifest', () => {
  it('names every command once, and every group', () => {
    expect(new Set(COMMANDS.map(({ path }) => path)).size).toBe(COMMANDS.length)
    const groups = COMMANDS.map(({ path }) => path.split(' ')).filter(({ length }) => length > 1)
    expect(Object.keys(COMMAND_GROUPS).toSorted()).toEqual([...new Set(groups.map(([word]) => word))].toSorted())
  })

  it.each(byPath)('has flags of %s that differ in name', (_, command) => {
    const names = flagsOf(command).flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]))
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(byPath)('gives two examples of %s that name it', async (path, { examples }) => {
    const { exitCode, out, err } = await run([...path.split(' '), '--help'])

    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toContain(`Usage: perdure ${path}`)
    expect(out.split('Examples:\n')[1]?.trimEnd().split('\n')).toHaveLength(2)
    for (const example of examples) expect(example).toContain(`perdure ${path}`)
  })

  it.each(byPath)('proposes the nearest flag of %s and exits 2', async (path, command) => {
    const { exitCode, out, err } = await run([...path.split(' '), ...requiredWords(command), '--quite'])

    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain('Did you mean --quiet?')
  })

  it.each(failable)('writes one JSON document when %s fails, and a documented exit code', async (_, command) => {
    const { exitCode, out, err } = await run([...failing(command), '--json'])

    expect(exitCode).not.toBe(0)
    expect(documented(command)).toContain(exitCode)
    expect(out.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(out)).toMatchObject({ error: expect.any(String), message: expect.any(String) })
    expect(err).toContain(`error[${JSON.parse(out).error}]`)
  })

  it.each(failable)('writes nothing to stdout when %s fails without --json', async (_, command) => {
    expect((await run(failing(command))).out).toBe('')
  })

  it.each(byPath.filter(([, { target }]) => target === 'server'))(
    'exits 3 when %s cannot reach its server',
    async (_, command) => {
      expect((await run(failing(command))).exitCode).toBe(EXIT_CODES.unreachable.code)
    },
  )

  it.each(byPath)('can load the work of %s', async (_, { load }) => {
    expect(await load()).toBeTypeOf('function')
  })

  it.each(byPath)('describes the output of %s by a JSON Schema', async (path) => {
    const { exitCode, out } = await run(['schema', ...path.split(' ')])

    expect(exitCode).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ title: `perdure ${path} --json` })
  })

  it.each(['bash', 'zsh', 'fish', 'pwsh'])('completes every command and flag in %s', async (shell) => {
    const { out } = await run(['completion', shell])

    for (const command of COMMANDS) {
      expect(out).toContain(command.path)
      for (const { name } of command.flags ?? []) expect(out).toContain(`--${name}`)
    }
  })

  it('leaves no trace of commands that failed', () => {
    expect(existsSync(join(dir(), '.graphorin'))).toBe(false)
  })
})
