import { existsSync, readFileSync } from 'node:fs'
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

/** Makes a command fail before it does anything: a port nobody listens on, a missing file, an extra flag. */
const FAILING = {
  server: ['--url', 'http://127.0.0.1:1/v1'],
  storage: ['--config', 'missing.mjs'],
  none: ['--surplus'],
} as const

const requiredWords = ({ arguments: given = [], flags = [] }: CommandSpec) => [
  ...given.filter(({ optional }) => !optional).map(() => 'x'),
  ...flags.filter(({ required }) => required).flatMap(({ name }) => [`--${name}`, 'x']),
]

/** `api` without an operation lists the operations, which needs no server. */
const wordsOf = (command: CommandSpec): readonly string[] =>
  command.path === 'api' ? ['runs.list'] : requiredWords(command)

/** `doctor` reports an unreadable configuration as a finding instead of failing. */
const failable = byPath.filter(([path]) => path !== 'doctor')

const failing = (command: CommandSpec) => [
  ...[...command.path.split(' '), ...wordsOf(command), ...FAILING[command.target]],
  ...(command.target === 'server' && command.flags?.some(({ name }) => name === 'yes') ? ['--yes'] : []),
]

const documented = (command: CommandSpec): readonly number[] =>
  (['ok', 'failed', 'usage', 'interrupted', ...(command.exits ?? [])] as const).map((exit) => EXIT_CODES[exit].code)

describe('the command line derived from the manifest', () => {
  it('lists every command once and describes every group', () => {
    expect(new Set(COMMANDS.map(({ path }) => path)).size).toBe(COMMANDS.length)
    const described = Object.values(COMMAND_GROUPS).filter(({ summary }) => summary !== undefined)
    const groups = COMMANDS.map(({ path }) => path.split(' ')).filter(({ length }) => length > 1)
    expect(described).toHaveLength(new Set(groups.map(([word]) => word)).size)
  })

  it.each(Object.entries(COMMAND_GROUPS))(
    'keeps the commands that begin with %s in the file of that name',
    (word, group) => {
      const source = readFileSync(join(import.meta.dirname, `${word}-commands.ts`), 'utf8')
      const isAlone = group.commands.some(({ path }) => path === word)

      expect(group.commands.map(({ path }) => path.split(' ')[0])).toEqual(group.commands.map(() => word))
      expect(group.summary === undefined).toBe(isAlone)
      expect(source).toContain(`export const ${word}Commands`)
    },
  )

  it.each(byPath)('gives every flag and argument of %s a unique name', (_, command) => {
    const flags = flagsOf(command).flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]))
    const names = [...flags, ...(command.arguments ?? []).map(({ name }) => name)]
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(byPath)('shows two examples in the help of %s', async (path, { examples }) => {
    const { exitCode, out, err } = await run([...path.split(' '), '--help'])

    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toContain(`Usage: perdure ${path}`)
    expect(out.split('Examples:\n')[1]?.trimEnd().split('\n')).toHaveLength(2)
    for (const example of examples) expect(example).toContain(`perdure ${path}`)
  })

  it.each(byPath)('suggests the nearest flag for a typo in %s and exits 2', async (path, command) => {
    const { exitCode, out, err } = await run([...path.split(' '), ...requiredWords(command), '--quite'])

    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain('Did you mean --quiet?')
  })

  it.each(failable)(
    'writes one JSON document and exits with a documented code when %s --json fails',
    async (_, command) => {
      const { exitCode, out, err } = await run([...failing(command), '--json'])

      expect(exitCode).not.toBe(0)
      expect(documented(command)).toContain(exitCode)
      expect(out.trimEnd().split('\n')).toHaveLength(1)
      expect(JSON.parse(out)).toMatchObject({ error: expect.any(String), message: expect.any(String) })
      expect(err).toContain(`error[${JSON.parse(out).error}]`)
    },
  )

  it.each(failable)('writes nothing to stdout when %s fails without --json', async (_, command) => {
    expect((await run(failing(command))).out).toBe('')
  })

  it.each(byPath.filter(([, { target }]) => target === 'server'))(
    'exits 3 when %s cannot reach the server',
    async (_, command) => {
      expect((await run(failing(command))).exitCode).toBe(EXIT_CODES.unreachable.code)
    },
  )

  it.each(byPath)('loads the handler of %s', async (_, { load }) => {
    expect(await load()).toBeTypeOf('function')
  })

  it.each(byPath)('prints a JSON Schema of the output of %s', async (path) => {
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

  it('creates no data folder when commands fail', async () => {
    const storing = failable.filter(([, { target }]) => target === 'storage')
    expect(storing.length).toBeGreaterThan(3)
    for (const [path, command] of storing) expect((await run(failing(command))).exitCode, path).not.toBe(0)

    expect(existsSync(join(dir(), '.graphorin'))).toBe(false)
  })
})
