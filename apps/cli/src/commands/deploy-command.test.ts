import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { DEPLOYMENTS } from '../manifest/deployments.ts'
import { runCli } from '../run-cli.ts'

const FOLDER = join(import.meta.dirname, '../../../../deploy')

async function run(...args: readonly string[]) {
  const terminal = recordingTerminal({ cwd: '/' })
  const exitCode = await runCli(args, terminal)
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

describe('perdure deploy print', () => {
  it.each(Object.entries(DEPLOYMENTS))('prints the file for the argument %s: %s', async (what, file) => {
    const { exitCode, out, err } = await run('deploy', 'print', what)

    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toBe(readFileSync(join(FOLDER, file), 'utf8'))
  })

  it('names the file in the --json document', async () => {
    const { out } = await run('deploy', 'print', 'prometheus', '--json')

    expect(JSON.parse(out)).toMatchObject({ what: 'prometheus', file: 'perdure.rules.yml' })
  })

  it.each(['docker', 'toString', '../README.md'])('rejects %s and lists the choices', async (what) => {
    const { exitCode, out, err } = await run('deploy', 'print', what)

    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain('systemd, dockerfile')
  })
})
