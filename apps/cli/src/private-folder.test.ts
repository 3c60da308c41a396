import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../test/recording-terminal.ts'
import { temporaryDir } from '../test/temporary-dir.ts'
import { ensureDevPepper } from './dev/dev-pepper.ts'
import { runCli } from './run-cli.ts'
import { writeDevSession } from './server-access/dev-session.ts'

const dir = temporaryDir()

const CREATORS: Readonly<Record<string, () => Promise<string>>> = {
  'secrets generate': async () => {
    expect(await runCli(['secrets', 'generate', 'pepper'], recordingTerminal({ cwd: dir() }))).toBe(0)
    return 'secrets'
  },
  'the pepper of perdure dev': async () => {
    await ensureDevPepper(join(dir(), '.graphorin/dev-pepper'))
    return '.graphorin'
  },
  'the session of perdure dev': async () => {
    writeDevSession(dir(), { url: 'http://127.0.0.1:9/v1', pid: 1 })
    return '.graphorin'
  },
}

describe('a folder for secrets', () => {
  it.each(Object.entries(CREATORS))('is private and ignored by git when created by %s', async (_, create) => {
    const folder = join(dir(), await create())

    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  it.each(Object.entries(CREATORS))('gets no .gitignore from %s if it existed before', async (_, create) => {
    for (const folder of ['secrets', '.graphorin']) mkdirSync(join(dir(), folder))
    const folder = join(dir(), await create())

    expect(existsSync(join(folder, '.gitignore'))).toBe(false)
    expect(readdirSync(folder)).toHaveLength(1)
  })
})
