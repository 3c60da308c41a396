import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COMMANDS, type CommandSpec, EXIT_CODES } from '../apps/cli/src/index.ts'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { BINARY } from './perdure-process.ts'

const dir = mkdtempSync(join(tmpdir(), 'perdure-commands-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const wordsOf = ({ path, target, arguments: given = [], flags = [] }: CommandSpec): readonly string[] => [
  ...path.split(' '),
  ...given.filter(({ optional }) => !optional).map(() => 'x'),
  ...flags.filter(({ required }) => required).flatMap(({ name }) => [`--${name}`, 'x']),
  ...(target === 'server' ? ['--url', 'http://127.0.0.1:1/v1'] : []),
]

/** One command of each kind, plus those that write more than a pipe buffer. */
const SAMPLE = new Set([
  ...new Map(
    COMMANDS.filter(({ isService }) => !isService).map((one) => [`${one.target} ${one.output}`, one]),
  ).values(),
  ...COMMANDS.filter(({ path }) => ['openapi', 'asyncapi', 'config schema', 'help'].includes(path)),
])
const byPath = [...SAMPLE].map((command) => [command.path, command] as const)

/** Runs a shell line with the command as `"$@"` and returns the exit code of the command itself. */
function inShell(line: string, command: CommandSpec) {
  const words = [
    '-c',
    `${line}; echo "exit \${PIPESTATUS[0]}"`,
    'perdure',
    process.execPath,
    BINARY,
    ...wordsOf(command),
  ]
  const env = { ...process.env, XDG_CONFIG_HOME: dir, PERDURE_URL: '', PERDURE_TOKEN: '' }
  const { stdout, stderr } = spawnSync(toolPath('bash'), words, { cwd: dir, env, encoding: 'utf8', input: '' })
  return { exitCode: Number(/exit (\d+)\n$/.exec(stdout)?.[1]), stderr }
}

const codesOf = ({ exits = [] }: CommandSpec): readonly number[] =>
  (['ok', 'failed', 'usage', ...exits] as const).map((exit) => EXIT_CODES[exit].code)

needsTool('bash').describe('a command as a process', () => {
  describe.each(byPath)('perdure %s', (_, command) => {
    it('needs no stdin and prints no error when its output is closed early or immediately', () => {
      const alone = inShell('"$@" <&-', command)
      expect(codesOf(command)).toContain(alone.exitCode)
      expect(alone.stderr).not.toMatch(/EBADF|EAGAIN|\n {4}at /)

      expect(inShell('"$@" | head -c 1', command)).toEqual(alone)
      expect(inShell('"$@" >&-', command).stderr).not.toMatch(/EBADF|EPIPE|\n {4}at /)
    })
  })
})
