import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
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

  it('prints perdure dev as the next command when perdure is on the PATH', async () => {
    await mkdir(join(dir(), 'bin'))
    await writeFile(join(dir(), 'bin/perdure'), '')
    const next = async (...args: readonly string[]) => {
      const terminal = recordingTerminal({ cwd: dir(), env: { PATH: join(dir(), 'bin') } })
      await runCli(['init', ...args, '--yes'], terminal)
      return terminal.out().split('next: ')[1]
    }

    expect(await next('hello')).toBe('cd hello && perdure dev\n')
    expect(await next('chat', '--template', 'ai-sdk')).toBe('cd chat && npm install && npm run dev\n')
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

  describe('in a project with a package.json', () => {
    const own = (content: object) => writeFile(join(dir(), 'package.json'), JSON.stringify(content))
    const cli = `"@perdure/cli@^${readVersion()}"`

    it('keeps the file, writes the others and prints the commands that add what is missing', async () => {
      await own({ name: 'mine' })
      const { exitCode, out } = await init(['--yes'])

      expect(exitCode).toBe(0)
      expect(await readFile(join(dir(), 'package.json'), 'utf8')).toBe('{"name":"mine"}')
      expect((await readdir(dir())).sort()).toEqual([...FILES, 'agents'].filter((name) => !name.includes('/')).sort())
      expect(out).not.toContain('✓ package.json')
      expect(out).toContain('package.json exists and was not changed\n')
      expect(out).toContain(
        `next: npm install ${cli} && npm pkg set scripts.dev="perdure dev" scripts.start="perdure server" scripts.perdure=perdure && npm run dev\n`,
      )
    })

    it('lists the same commands with --json', async () => {
      await mkdir(join(dir(), 'app'))
      await writeFile(join(dir(), 'app', 'package.json'), '{}')
      const { out } = await init(['app', '--yes', '--json'])

      expect(JSON.parse(out)).toEqual({
        dir: join(dir(), 'app'),
        files: FILES.filter((name) => name !== 'package.json'),
        kept: ['package.json'],
        next: [
          'cd app',
          `npm install ${cli}`,
          'npm pkg set scripts.dev="perdure dev" scripts.start="perdure server" scripts.perdure=perdure',
          'npm run dev',
        ],
      })
    })

    it('names every dependency of the template', async () => {
      await own({})
      const { out } = await init(['--template', 'ai-sdk', '--yes'])

      expect(out).toMatch(/next: npm install "@perdure\/cli@\^[^"]+" "ai@\^[^"]+" && /)
    })

    it('does not replace scripts or dependencies that the file has', async () => {
      await own({ scripts: { dev: 'vite', start: 'perdure server' }, devDependencies: { '@perdure/cli': '^0.1.0' } })
      const { out } = await init(['--yes'])

      expect(out).toContain('next: npm install && npm pkg set scripts.perdure=perdure && npm run perdure -- dev\n')
    })

    it('prints the usual commands when nothing is missing', async () => {
      await init(['complete', '--yes'])
      await cp(join(dir(), 'complete', 'package.json'), join(dir(), 'package.json'))

      expect((await init(['--yes'])).out).toContain('next: npm install && npm run dev\n')
    })

    it('runs when the file is not valid JSON', async () => {
      await writeFile(join(dir(), 'package.json'), '{')

      expect(await init(['--yes'])).toMatchObject({ exitCode: 0, out: expect.stringContaining(`npm install ${cli}`) })
    })

    it('still rejects every other existing file', async () => {
      await own({})
      await writeFile(join(dir(), 'README.md'), 'mine')
      const { exitCode, err } = await init(['--yes'])

      expect(exitCode).toBe(6)
      expect(err).toContain(join(dir(), 'README.md'))
      expect(err).not.toContain(join(dir(), 'package.json'))
      expect((await readdir(dir())).sort()).toEqual(['README.md', 'package.json'])
    })
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

    expect(JSON.parse(out)).toEqual({ dir: dir(), files: FILES, kept: [], next: ['npm install', 'npm run dev'] })
  })

  it('rejects an unknown template', async () => {
    expect((await init(['--template', 'fancy', '--yes'])).exitCode).toBe(2)
  })
})
