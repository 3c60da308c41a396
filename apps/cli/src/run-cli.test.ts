import { START_ERRORS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../test/recording-terminal.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { runCli } from './run-cli.ts'

async function run(...args: string[]) {
  const terminal = recordingTerminal({ cwd: '/' })
  const exitCode = await runCli(args, terminal)
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

describe('runCli', () => {
  it('prints the version', async () => {
    expect(await run('version')).toEqual({
      exitCode: 0,
      out: expect.stringMatching(/^perdure \d+\.\d+\.\d+\n$/),
      err: '',
    })
    expect(JSON.parse((await run('version', '--json')).out)).toMatchObject({ node: process.versions.node })
    expect((await run('--version')).exitCode).toBe(0)
  })

  it('suggests the nearest command and exits 2', async () => {
    const { exitCode, out, err } = await run('sevrer')

    expect(exitCode).toBe(2)
    expect(out).toBe('')
    expect(err).toBe("error[usage]: unknown command 'sevrer'\n  hint: Did you mean server?\n")
  })

  it('suggests the nearest flag and exits 2', async () => {
    const { exitCode, err } = await run('server', '--prot', '1')

    expect(exitCode).toBe(2)
    expect(err).toContain('Did you mean --port?')
  })

  it.each([
    [['agents', 'run'], "missing required argument 'agent'", 'run perdure agents run --help'],
    [['deploy', 'print'], "missing required argument 'what'", 'run perdure deploy print --help'],
    [['agents', 'launch'], "unknown command 'launch'", 'run perdure agents --help'],
    [['server', 'surplus'], 'too many arguments', 'run perdure server --help'],
    [
      ['token', 'create', '--name', 'x', '--scopes', 'approvals:decide'],
      'unknown scope',
      'use one of approvals:read, approvals:resolve',
    ],
    [
      ['token', 'create', '--name', 'x', '--scopes', 'agent:invoke:echo'],
      'unknown scope',
      'Did you mean agents:invoke:echo?',
    ],
  ])('leads from a usage error to the help of the command or to the nearest name: %j', async (args, message, hint) => {
    const { exitCode, err } = await run(...args)

    expect(exitCode).toBe(2)
    expect(err).toContain(message)
    expect(err).toContain(`hint: ${hint}`)
  })

  it('writes a usage error as one JSON document with --json', async () => {
    const { exitCode, out } = await run('server', '--prot', '1', '--json')

    expect(exitCode).toBe(2)
    expect(JSON.parse(out)).toEqual({
      error: 'usage',
      kind: 'usage',
      message: "unknown option '--prot'",
      hint: 'Did you mean --port?',
    })
  })

  it.each([['-1'], ['65536'], ['80a'], ['1.5']])('rejects the port %s', async (port) => {
    const { exitCode, err } = await run('server', `--port=${port}`)

    expect(exitCode).toBe(2)
    expect(err).toContain('from 0 to 65535')
  })

  it('rejects surplus arguments and a missing required flag', async () => {
    expect((await run('server', 'surplus')).exitCode).toBe(2)
    expect((await run('token', 'create', '--name', 'x')).err).toContain('--scopes')
  })

  it('prints help on stderr and exits 2 without a command', async () => {
    const { exitCode, out, err } = await run()

    expect(exitCode).toBe(2)
    expect(out).toBe('')
    expect(err).toContain('Usage: perdure')
  })

  it.each([[['--help']], [['help']], [['server', '--help']], [['help', 'token', 'create']]])(
    'prints help on stdout for %j',
    async (args) => {
      const { exitCode, out, err } = await run(...args)

      expect(exitCode).toBe(0)
      expect(out).toContain('Usage: perdure')
      expect(err).toBe('')
    },
  )

  it('explains every exit code', async () => {
    const { out } = await run('help', 'exit-codes')

    for (const { code, meaning } of Object.values(EXIT_CODES))
      expect(out).toMatch(new RegExp(`^${code} +${meaning}$`, 'm'))
  })

  it('explains the errors that error reports refer to', async () => {
    expect((await run('help', 'errors/pepper-weak')).out).toContain(START_ERRORS['pepper-weak'])
    expect((await run('help', 'errors/storage-full')).out).toContain(`503; the same request may succeed later\n`)
  })

  it.each(['nonsense', 'errors/nonsense', 'errors/constructor', 'constructor'])(
    'exits 2 for the unknown help topic %s',
    async (word) => {
      expect(await run('help', word)).toMatchObject({ exitCode: 2, out: '' })
    },
  )

  it.each([
    'server',
    'dev',
    'init',
    'doctor',
    'version',
    'token create',
    'token list',
    'token revoke',
    'migrate status',
    'migrate up',
    'migrate sqlite-to-postgres',
  ])('gives two examples in the help of %s', async (command) => {
    const { out } = await run(...command.split(' '), '--help')

    expect(out.split('Examples:\n')[1]?.trimEnd().split('\n')).toHaveLength(2)
  })
})
