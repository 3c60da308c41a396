import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { loadConfig } from '../config/load-config.ts'
import { runCli } from '../run-cli.ts'
import { readVersion } from '../version.ts'

const FILES = ['perdure.config.mjs', 'agents/echo.mjs', 'package.json', 'README.md', 'AGENTS.md', '.gitignore']

describe('perdure init', () => {
  const dir = temporaryDir()

  const init = async (args: readonly string[], answer?: string) => {
    const terminal = recordingTerminal({ cwd: dir(), ...(answer === undefined ? {} : { answer }) })
    const exitCode = await runCli(['init', ...args], terminal)
    return { exitCode, out: terminal.out(), err: terminal.err() }
  }

  it('creates a project in a new folder and prints the next commands', async () => {
    const { exitCode, out } = await init(['hello', '--yes'])

    expect(exitCode).toBe(0)
    expect((await readdir(join(dir(), 'hello'))).sort()).toEqual([
      '.gitignore',
      'AGENTS.md',
      'README.md',
      'agents',
      'package.json',
      'perdure.config.mjs',
    ])
    expect(out).toContain('next: cd hello && npm install && npm run dev\n')
  })

  it('writes a configuration that loads and registers the agent echo', async () => {
    await init(['--yes'])
    const { agents } = await loadConfig({ cwd: dir(), env: {}, flags: {} })

    expect(agents.map(({ id }) => id)).toEqual(['echo'])
  })

  it.each([
    ['basic', 'agents/echo.mjs'],
    ['workflow', 'workflows/refund.mjs'],
    ['ai-sdk', 'agents/assistant.mjs'],
  ])('writes the template %s with the scripts and the version of this command', async (template, file) => {
    const { exitCode, out } = await init(['--yes', '--template', template])

    expect(exitCode).toBe(0)
    expect(out).toContain(`✓ ${file}\n`)
    expect(out).toContain('next: npm install && npm run dev\n')
    expect(await readdir(dir())).toEqual(expect.arrayContaining(['AGENTS.md', '.gitignore', 'perdure.config.mjs']))
    expect(JSON.parse(await readFile(join(dir(), 'package.json'), 'utf8'))).toMatchObject({
      scripts: { dev: 'perdure dev', start: 'perdure server', perdure: 'perdure' },
      dependencies: { '@perdure/cli': `^${readVersion()}` },
    })
  })

  it('ignores data and secrets in .gitignore', async () => {
    await init(['--yes'])

    expect(await readFile(join(dir(), '.gitignore'), 'utf8')).toMatch(/^\.graphorin\/\nsecrets\/$/m)
  })

  it('lists existing files, writes nothing and exits 6', async () => {
    await writeFile(join(dir(), 'README.md'), 'mine')
    await writeFile(join(dir(), '.gitignore'), 'mine')
    const { exitCode, err } = await init(['--yes'])

    expect(exitCode).toBe(6)
    expect(err).toContain('error[file-exists]')
    expect(err).toContain(join(dir(), 'README.md'))
    expect(err).toContain(join(dir(), '.gitignore'))
    expect((await readdir(dir())).sort()).toEqual(['.gitignore', 'README.md'])
    expect(await readFile(join(dir(), 'README.md'), 'utf8')).toBe('mine')
  })

  it.each([['f'], ['f/below'], ['f/far/below']])('rejects the folder %s when f is a file', async (target) => {
    await writeFile(join(dir(), 'f'), 'mine')
    const { exitCode, err } = await init([target, '--yes'])

    expect(exitCode).toBe(6)
    expect(err).toContain('error[file-exists]')
    expect(err).toContain(join(dir(), 'f'))
    expect(await readFile(join(dir(), 'f'), 'utf8')).toBe('mine')
  })

  it('rejects a folder that is a dangling symlink', async () => {
    await symlink('nowhere', join(dir(), 'link'))

    expect(await init(['link', '--yes'])).toMatchObject({
      exitCode: 6,
      err: expect.stringContaining('error[file-exists]'),
    })
  })

  it('creates the folder with its parents', async () => {
    expect((await init(['a/b', '--yes'])).exitCode).toBe(0)
    expect(await readdir(join(dir(), 'a/b'))).toHaveLength(6)
  })

  it('requires --yes without a terminal', async () => {
    const { exitCode, err } = await init([])

    expect(exitCode).toBe(2)
    expect(err).toContain('--yes')
    expect(await readdir(dir())).toEqual([])
  })

  it.each([
    ['', 6],
    ['y', 6],
    ['n', 0],
  ])('prompts, and after the answer %j creates %i entries', async (answer, files) => {
    await init([], answer)

    expect(await readdir(dir())).toHaveLength(files)
  })

  it('writes one document with --json', async () => {
    const { out } = await init(['--yes', '--json'])

    expect(JSON.parse(out)).toEqual({ dir: dir(), files: FILES })
  })

  it('rejects an unknown template', async () => {
    expect((await init(['--template', 'fancy', '--yes'])).exitCode).toBe(2)
  })
})
